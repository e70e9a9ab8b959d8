import JOSE
import YAMLReader

/// The keys of `jwt`.
extension Config.JWT: PlainBlock {
    static let keys: [BlockKey<Config.JWT>] = [
        .value(
            "issuer", \.issuer, .acceptedNames, isRequired: true,
            "the claim iss, byte for byte; of several issuers, one; any does not read the claim"),
        .value(
            "audience", \.audience, .acceptedNames, isRequired: true,
            "at least one of these is in the claim aud; any accepts tokens for other services"),
        .list(
            "algorithms", \.algorithms, .filledList(of: .choice),
            default: .description("`[RS256, ES256]`"),
            "signature algorithms that are accepted; [RS256, ES256] by default"),
        .block("keys", \.keys, isRequired: true, "where the keys of the issuer come from"),
        .block(
            "token", \.place, default: .description("`{ header: Authorization }`"),
            "where a request has its token: Authorization by default"),
        .value(
            "type", \.type, .choice, default: .description("`JWT`, `at+jwt` or none"),
            "typ that a token must have; by default JWT, at+jwt or none. at+jwt requires access tokens (RFC 9068)"
        ),
        .value(
            "leeway", \.leeway, .duration(allowsZero: true),
            default: .time(PlanDefaults.tokenLeeway),
            "by how much clocks may differ, for exp and nbf; 5m at most"),
        .value(
            "scopes_claim", \.scopesClaim, .scopesClaim, default: .text("scope, else scp"),
            "claim that has the scopes: its name, or the names on the way to a nested one"),
        .value(
            "remember", \.remember, .natural, default: .number(PlanDefaults.tokensRemembered),
            "number of verified tokens that each worker remembers; 0 verifies every signature"),
    ]
}

extension Config.TokenKeys: PlainBlock {
    static let alternatives = [["url", "from", "file", "secret"]]

    static let keys: [BlockKey<Config.TokenKeys>] = [
        .value(
            "url", \.url, .keySetURL,
            "URL of a JWK Set, fetched by the gateway; https:// except for loopback addresses"),
        .value("from", \.from, .text, "backend that has the JWK Set, with its TLS and breaker"),
        .value("get", \.get, .urlPath, "path of the JWK Set at the backend of from"),
        .value(
            "file", \.file, .file,
            "file with a JWK Set or public keys in PEM; for HS256, HS384 and HS512 a JWK, a set, or the bytes of the secret"
        ),
        .value(
            "secret", \.secret, .sharedSecret,
            "secret for HS256, HS384 and HS512, e.g. ${file:/run/secrets/jwt}"),
        .value(
            "encoding", \.encoding, .choice, default: .choice(PlanDefaults.secretEncoding),
            "how secret is written: as it is, or its bytes in Base64"),
        .value(
            "refresh", \.refresh, .duration, default: .time(PlanDefaults.keysRefresh),
            "how often the set is fetched; its max-age takes precedence, from 1m to 24h"),
        .value(
            "stale", \.stale, .duration(allowsZero: true), default: .time(PlanDefaults.keysStale),
            "how long keys are used while refreshes fail; then 503"),
        .value(
            "unknown_kid", \.unknownKid, .duration, default: .time(PlanDefaults.keysUnknownKid),
            "least time between two fetches; an unknown kid causes at most one in that time"),
    ]
}

extension Config.TokenPlace: PlainBlock {
    static let alternatives = [["header", "cookie"]]

    static let keys: [BlockKey<Config.TokenPlace>] = [
        .value(
            "header", \.header, .tokenHeader, default: .text(PlanDefaults.tokenHeader),
            "header that has the token; after Bearer in Authorization, else alone"),
        .value("cookie", \.cookie, .cookieName, "cookie that has the token"),
    ]
}

extension ValueReader where Value == Config.JWT.AcceptedNames {
    /// `any`, one name, or several.
    static var acceptedNames: ValueReader {
        let list = ValueReader<[Located<String>]>.oneOrMany(of: .text)
        return ValueReader(schema: list.schema) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "any" { return .any }
            return list.read(node, &decoder).map { .oneOf($0) }
        }
    }
}

extension ValueReader where Value == Config.JWT.ScopesClaim {
    /// The name of a claim, or the names on the way to a nested one.
    static var scopesClaim: ValueReader {
        let list = ValueReader<[Located<String>]>.oneOrMany(of: .text)
        return ValueReader(schema: list.schema) { node, decoder in
            if case .sequence([]) = node.content {
                decoder.fail(node.location, "must not be empty")
                return nil
            }
            guard let names = list.read(node, &decoder)?.map(\.value) else { return nil }
            if case .sequence = node.content { return .init(path: names) }
            return names.first.map { .init(named: $0) }
        }
    }
}

extension ValueReader where Value == Config.KeySetURL {
    static var keySetURL: ValueReader {
        let message = "must be a URL such as https://id.example.com/jwks.json"
        return .scalar(.text(format: .keySetURL), expected: message) { scalar throws(Refusal) in
            try Config.KeySetURL(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == String {
    /// A secret of any characters. No message quotes it.
    static var sharedSecret: ValueReader {
        .scalar(.text(format: .sharedSecret), expected: "must be a text") {
            scalar throws(Refusal) in
            guard scalar.text.utf8.count >= 32 else {
                throw Refusal("must have at least 32 bytes, the length of a hash of HS256")
            }
            return scalar.text
        }
    }

    static var tokenHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in
            try HeaderSyntax.check(name: text)
            let name = text.lowercased()
            guard name != "cookie" else {
                throw Refusal("must not be '\(text)'; write cookie: NAME for a cookie")
            }
            guard !HeaderSyntax.describesMessage(text), !HeaderSyntax.isForwarding(text) else {
                throw Refusal("must not be '\(text)', which has another meaning")
            }
        }
    }

    /// A name of RFC 6265, section 4.1.1.
    static var cookieName: ValueReader {
        text(.headerName) { text throws(Refusal) in
            guard HeaderSyntax.isName(text) else {
                throw Refusal("must be the name of a cookie; '\(text)' is not a valid name")
            }
        }
    }
}
