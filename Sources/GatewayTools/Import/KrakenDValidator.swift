import Basics
import GatewayConfig
import JOSE
import JSONText
import YAMLReader

/// Converts KrakenD's `auth/validator` of one endpoint: the authenticator that checks its tokens, and
/// what the endpoint requires of the caller.
///
/// The result is never less strict. A key that has no equivalent, or is not known, is a refusal: the
/// endpoint is then left out.
struct KrakenDValidator {
    static let extra = "auth/validator"

    /// The members of `jwt`. Endpoints with the same members share an authenticator.
    let jwt: [(String, YAMLTree)]
    /// Each place of the token, as the value of `token`; nil for `Authorization`.
    let places: [YAMLTree?]
    let scopes: [String]
    /// The conditions of `require`.
    let conditions: [YAMLTree]
    /// The headers that claims are sent in.
    let headers: [(name: String, claim: String)]
    let findings: ImportFindings

    init(_ member: DocumentNode.Member, of endpoint: DocumentNode) throws(Refusal) {
        let settings = KrakenDValidatorSettings(member.node)
        try settings.checkKeys()
        var findings = ImportFindings()
        let audience = try settings.texts("audience")
        var jwt: [(String, YAMLTree)] = [
            ("issuer", .text(try settings.issuer())),
            // A token must have all of them; the conditions require the others.
            ("audience", audience.first.map { .texts([$0]) } ?? .text("any")),
            ("algorithms", .texts([try settings.algorithm().rawValue])),
            ("keys", .inline(try settings.keys(&findings))),
        ]
        if let leeway = settings.leeway(&findings) { jwt.append(("leeway", .text(leeway.spelled))) }
        let scopes = try settings.scopes()
        if !scopes.isEmpty, let claim = settings["scopes_key"]?.text {
            jwt.append(("scopes_claim", .text(claim)))
        }
        self.jwt = jwt
        self.scopes = scopes
        places = try settings.places(&findings)
        conditions =
            try audience.dropFirst().map { name throws(Refusal) in
                Self.condition("aud", ("has", .text(Self.literal(name))))
            } + settings.roleConditions()
        headers = try settings.headers(of: endpoint, &findings)
        settings.reportLosses(&findings)
        self.findings = findings
    }

    /// What makes two authenticators the same.
    var identity: String { YAMLTree.inline(jwt).lines.map(\.text).joined() }

    /// The reference to a claim.
    static func reference(to claim: String) -> String { "token.\(claim)" }

    static func condition(_ claim: String, _ test: (String, YAMLTree)) -> YAMLTree {
        .inline([("value", .text("{\(reference(to: claim))}")), test])
    }

    /// A text without references.
    static func literal(_ text: String) -> String {
        text.replacing("{", with: "{{").replacing("}", with: "}}")
    }
}

/// The settings of one `auth/validator`.
private struct KrakenDValidatorSettings {
    private let node: DocumentNode

    init(_ node: DocumentNode) {
        self.node = node
    }

    subscript(key: String) -> DocumentNode? { node[key] }

    private func refusal(_ key: String, _ reason: String) -> Refusal {
        Refusal("its '\(key)' \(reason)", at: node[key]?.location ?? node.location)
    }

    // MARK: Keys of the block

    /// Keys without equivalent, and the reason.
    private static let refused = [
        "jwk_fingerprints": "has no equivalent: certificates are verified with trusted CAs",
        "jwk_local_ca": "has no equivalent for 'jwk_url'; 'keys: { from }' names a backend with"
            + " 'tls: { ca }'",
        "secret_url": "has no equivalent: the file of the keys must not be encrypted",
        "cypher_key": "has no equivalent: the file of the keys must not be encrypted",
    ]

    private static let converted: Set<String> = [
        "alg", "jwk_url", "jwk_local_path", "issuer", "audience", "roles", "roles_key",
        "roles_key_is_nested", "scopes", "scopes_key", "scopes_matcher", "cookie_key",
        "auth_header_name", "cache", "cache_duration", "leeway", "propagate_claims",
        "key_identify_strategy", "disable_jwk_security",
    ]

    /// Keys that only tune the validator.
    private static let losses: [String: ImportLoss] = [
        "operation_debug": .note("the access log has the cause of each refusal"),
        "failed_jwk_key_cooldown": .note("'unknown_kid' of 'keys' bounds the fetches"),
        "cipher_suites": .note("the cipher suites of TLS 1.2 and 1.3 cannot be configured"),
    ]

    /// An unknown key may be a restriction.
    func checkKeys() throws(Refusal) {
        guard case .mapping = node.content else {
            throw Refusal("it is not a block", at: node.location)
        }
        for member in node.members {
            // KrakenD ignores such keys; they are used for comments.
            guard let first = member.key.first, !"@_$".contains(first) else { continue }
            if let reason = Self.refused[member.key] { throw refusal(member.key, reason) }
            guard Self.converted.contains(member.key) || Self.losses[member.key] != nil else {
                throw refusal(member.key, "is not known")
            }
        }
        if let strategy = node["key_identify_strategy"], strategy.text != "kid" {
            throw refusal("key_identify_strategy", "has no equivalent: keys are selected by 'kid'")
        }
    }

    func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where Self.losses[member.key] != nil {
            findings.reportLoss(of: member, among: Self.losses)
        }
    }

    /// A list of texts; empty if it is absent.
    func texts(_ key: String) throws(Refusal) -> [String] {
        guard let list = node[key] else { return [] }
        guard case .sequence(let elements) = list.content, list.texts.count == elements.count else {
            throw refusal(key, "is not a list of texts")
        }
        return list.texts
    }

    // MARK: Tokens

    func issuer() throws(Refusal) -> String {
        guard let issuer = node["issuer"]?.text, !issuer.isEmpty else {
            throw refusal(
                "issuer", "is missing: only tokens of a stated issuer are accepted")
        }
        return issuer
    }

    func algorithm() throws(Refusal) -> SignatureAlgorithm {
        guard let node = node["alg"] else { return .rs256 }
        guard let algorithm = node.text.flatMap({ SignatureAlgorithm(rawValue: $0) }) else {
            throw refusal("alg", "is not an algorithm for signatures")
        }
        guard !algorithm.isSymmetric else {
            throw refusal(
                "alg",
                "needs a secret, which a set of keys must not have; write it as 'secret' of"
                    + " 'keys'")
        }
        return algorithm
    }

    /// The members of `keys`.
    func keys(_ findings: inout ImportFindings) throws(Refusal) -> [(String, YAMLTree)] {
        if let path = node["jwk_local_path"]?.text, !path.isEmpty {
            return [("file", .text(path))]
        }
        let url = try keySetURL()
        if node["disable_jwk_security"]?.flag == true, url.hasPrefix("https:") {
            findings.warning(
                at: node["disable_jwk_security"]?.location ?? node.location,
                "'disable_jwk_security' is left out: the certificate of '\(url)' is verified")
        }
        return [("url", .text(url))] + refresh(&findings)
    }

    private func keySetURL() throws(Refusal) -> String {
        guard let url = node["jwk_url"]?.text, !url.isEmpty else {
            throw refusal("jwk_url", "is missing")
        }
        let parsed: Config.KeySetURL
        do throws(Refusal) {
            parsed = try Config.KeySetURL(parsing: url)
        } catch {
            throw refusal("jwk_url", error.message)
        }
        guard parsed.server.scheme == .https || parsed.server.isLoopback else {
            throw refusal("jwk_url", "has no https://: a modified set would accept any token")
        }
        return url
    }

    /// KrakenD fetches the keys for every request, unless it caches them.
    private func refresh(_ findings: inout ImportFindings) -> [(String, YAMLTree)] {
        guard node["cache"]?.flag == true else {
            findings.note(
                at: node["cache"]?.location ?? node["jwk_url"]?.location ?? node.location,
                "the keys are fetched every minute, or as their 'max-age' permits, instead of for"
                    + " each request")
            return [("refresh", .text("1m"))]
        }
        guard let seconds = node["cache_duration"]?.integer, seconds > 0 else { return [] }
        let bounded = min(max(seconds, 60), 86_400)
        return [("refresh", .text(Duration.seconds(bounded).spelled))]
    }

    func leeway(_ findings: inout ImportFindings) -> Duration? {
        guard let leeway = node["leeway"]?.goDuration else { return nil }
        let most = Duration.seconds(300)
        if leeway > most {
            findings.warning(
                at: node["leeway"]?.location ?? node.location, "'leeway' is 5m, the longest")
        }
        return min(leeway, most)
    }

    /// KrakenD reads the header first, then the cookie.
    func places(_ findings: inout ImportFindings) throws(Refusal) -> [YAMLTree?] {
        var places: [YAMLTree?] = [nil]
        if let header = node["auth_header_name"]?.text, header.lowercased() != "authorization",
            !header.isEmpty
        {
            guard (try? HeaderSyntax.check(name: header)) != nil else {
                throw refusal("auth_header_name", "is not the name of a header")
            }
            findings.warning(
                at: node["auth_header_name"]?.location ?? node.location,
                "'\(header)' must have the token alone, without 'Bearer'")
            places = [.inline([("header", .text(header))])]
        }
        if let cookie = node["cookie_key"]?.text, !cookie.isEmpty {
            guard HeaderSyntax.isName(cookie) else {
                throw refusal("cookie_key", "is not the name of a cookie")
            }
            places.append(.inline([("cookie", .text(cookie))]))
        }
        return places
    }

    // MARK: Callers

    /// The scopes that a token must have, all of them.
    func scopes() throws(Refusal) -> [String] {
        let scopes = try texts("scopes")
        guard !scopes.isEmpty else { return [] }
        guard scopes.allSatisfy({ !$0.contains(where: \.isWhitespace) && !$0.isEmpty }) else {
            throw refusal("scopes", "has a scope with a space")
        }
        if let claim = node["scopes_key"]?.text, claim.contains(".") {
            throw refusal("scopes_key", "is a claim inside another one")
        }
        guard scopes.count == 1 || node["scopes_matcher"]?.text == "all" else {
            throw refusal(
                node["scopes_matcher"] == nil ? "scopes" : "scopes_matcher",
                "accepts tokens with any of several scopes; 'scopes' here requires all of them")
        }
        return scopes
    }

    /// One of the roles is enough.
    func roleConditions() throws(Refusal) -> [YAMLTree] {
        let roles = try texts("roles")
        guard !roles.isEmpty else { return [] }
        let isNested = node["roles_key_is_nested"]?.flag == true
        let claim = try path(
            "roles_key", node["roles_key"]?.text ?? "roles", isNested: isNested)
        return [
            KrakenDValidator.condition(
                claim, ("has_any", .texts(roles.map(KrakenDValidator.literal))))
        ]
    }

    /// KrakenD sends a header only if the endpoint forwards it; the claim replaces the client's.
    func headers(
        of endpoint: DocumentNode, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(name: String, claim: String)] {
        guard let list = node["propagate_claims"] else { return [] }
        let forwarded = Set((endpoint["input_headers"]?.texts ?? []).map { $0.lowercased() })
        var headers: [(name: String, claim: String)] = []
        for pair in list.elements {
            guard pair.texts.count == 2, (try? HeaderSyntax.check(name: pair.texts[1])) != nil
            else { throw refusal("propagate_claims", "is not a list of claims with headers") }
            let (claim, name) = (pair.texts[0], pair.texts[1])
            guard forwarded.contains("*") || forwarded.contains(name.lowercased()) else {
                findings.note(
                    at: pair.location,
                    "'\(name)' is not sent, as in KrakenD: 'input_headers' does not list it")
                continue
            }
            headers.append((name, try path("propagate_claims", claim, isNested: true)))
        }
        let backends = endpoint["backend"]?.elements ?? []
        guard headers.isEmpty || !backends.contains(where: { $0["input_headers"] != nil }) else {
            throw refusal(
                "propagate_claims", "sends headers that 'input_headers' of a backend selects")
        }
        return headers
    }

    /// The path of a claim. KrakenD separates names by dots, except in the claims that URLs name.
    private func path(
        _ key: String, _ claim: String, isNested: Bool
    ) throws(Refusal) -> String {
        guard !claim.isEmpty, !claim.contains(where: { $0.isWhitespace || "{}".contains($0) })
        else { throw refusal(key, "has a claim that a reference cannot name: '\(claim)'") }
        let names =
            isNested && !claim.hasPrefix("http")
            ? claim.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            : [claim]
        return names.map(Self.quoted).joined(separator: ".")
    }

    /// The name in quotes, unless it consists of letters, digits, `_` and `-`.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                || Character(Unicode.Scalar(byte)).isLetter && byte < 0x80
                || (0x30...0x39).contains(byte)
        }
        return isPlain && !name.isEmpty ? name : String(jsonQuoting: name)
    }
}
