package import JOSE
package import YAMLReader

extension Config {
    /// `jwt:`, tokens that an issuer signs (RFC 7519).
    package struct JWT: Sendable {
        package let location: SourceLocation
        package var issuer: Located<AcceptedNames>?
        package var audience: Located<AcceptedNames>?
        package var algorithms: [Located<SignatureAlgorithm>] = []
        package var keys: TokenKeys?
        package var place: TokenPlace?
        package var type: Located<TokenType>?
        package var leeway: Located<Duration>?
        package var scopesClaim: Located<ScopesClaim>?
        package var remember: Located<Int>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// `scopes_claim:`
        package struct ScopesClaim: Sendable {
            /// The claims that may have the scopes, each as the names on the way to it.
            package let paths: [[String]]

            /// A claim of this name, else, if the name has dots, the one at this path.
            init(named name: String) {
                let parts = name.split(separator: ".", omittingEmptySubsequences: false)
                let isPath = parts.count > 1 && !parts.contains("")
                paths = [[name]] + (isPath ? [parts.map { String($0) }] : [])
            }

            /// The claim at the end of these names.
            init(path: [String]) {
                paths = [path]
            }
        }

        /// `issuer:` and `audience:`, the values that a claim may have.
        package enum AcceptedNames: Sendable {
            /// The claim is not read.
            case any
            case oneOf([Located<String>])

            /// Nil accepts any value.
            package var names: [Located<String>]? {
                switch self {
                case .any: nil
                case .oneOf(let names): names
                }
            }
        }
    }

    /// `token:` of `jwt`, where a request has its token.
    package struct TokenPlace: Sendable {
        package let location: SourceLocation
        package var header: Located<String>?
        package var cookie: Located<String>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.JWT {
    /// The header that clients send their token in.
    var header: String {
        place?.cookie != nil ? "Cookie" : place?.header?.value ?? PlanDefaults.tokenHeader
    }

    /// The algorithms that are accepted.
    package var acceptedAlgorithms: [SignatureAlgorithm] {
        algorithms.isEmpty ? PlanDefaults.tokenAlgorithms : algorithms.map(\.value)
    }
}

extension Config {
    /// The authenticators of an endpoint that read tokens; with one, `{token.claim}` refers to the
    /// claims.
    package func tokenAuthenticators(of endpoint: Endpoint) -> [Authenticator] {
        let names = authRule(of: endpoint)?.any.map(\.value) ?? []
        return authenticators.filter { $0.jwt != nil && names.contains($0.name.value) }
    }
}

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

extension ValueReader where Value == String {
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
