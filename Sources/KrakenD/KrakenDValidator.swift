import Basics
import Gateway
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

    /// Where requests have the token.
    struct Place {
        /// The value of `token`; nil for `Authorization`.
        let tree: YAMLTree?
        /// The header that has it.
        let header: String
    }

    /// The members of `jwt`. Endpoints with the same members share an authenticator.
    let jwt: [(String, YAMLTree)]
    let places: [Place]
    /// The URL of the set whose secret a file has to contain; nil for public keys, and for a local file.
    let secret: String?
    let isSymmetric: Bool
    let scopes: [String]
    /// The conditions of `require`.
    let conditions: [YAMLTree]
    /// The headers that claims are sent in.
    let headers: [(name: String, claim: String)]
    let findings: ImportFindings

    /// - Parameter backends: gets the server of keys that are fetched without TLS
    init(
        _ member: DocumentNode.Member, of endpoint: DocumentNode,
        _ backends: inout KrakenDBackends
    ) throws(Refusal) {
        let settings = KrakenDValidatorSettings(member.node)
        try settings.checkKeys()
        var findings = ImportFindings()
        let audience = try settings.texts("audience")
        var jwt: [(String, YAMLTree)] = [
            ("issuer", .text(settings.issuer(&findings))),
            // A token must have all of them; the conditions require the others.
            ("audience", audience.first.map { .texts([$0]) } ?? .text("any")),
        ]
        let algorithm = try settings.algorithm()
        jwt.append(("algorithms", .texts([algorithm.rawValue])))
        isSymmetric = algorithm.isSymmetric
        secret = try settings.secret(algorithm, &findings)
        if secret == nil { jwt.append(("keys", .inline(try settings.keys(&backends, &findings)))) }
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
    var identity: String { YAMLTree.inline(jwt).lines.map(\.text).joined() + (secret ?? "") }

    /// The reference to a claim.
    static func reference(to claim: String) -> String { "token.\(claim)" }

    static func condition(_ claim: String, _ test: (String, YAMLTree)) -> YAMLTree {
        .inline([("value", .text("{\(reference(to: claim))}")), test])
    }

    /// The path of a claim in a reference; nil if there is none. KrakenD separates names by dots, except
    /// in the claims that URLs name.
    static func path(of claim: String, isNested: Bool = true) -> String? {
        guard !claim.isEmpty, !claim.contains(where: { $0.isWhitespace || "{}".contains($0) })
        else { return nil }
        let names =
            isNested && !claim.hasPrefix("http")
            ? claim.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            : [claim]
        return names.map(quoted).joined(separator: ".")
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

    /// KrakenD does not read the claim of a validator without an issuer.
    func issuer(_ findings: inout ImportFindings) -> String {
        if let issuer = node["issuer"]?.text, !issuer.isEmpty { return issuer }
        findings.note(
            at: node["issuer"]?.location ?? node.location,
            "'issuer: any', because the validator has no 'issuer': tokens of every issuer whose keys"
                + " these are, as in KrakenD; write the issuer's name")
        return "any"
    }

    func algorithm() throws(Refusal) -> SignatureAlgorithm {
        guard let node = node["alg"] else { return .rs256 }
        guard let algorithm = node.text.flatMap({ SignatureAlgorithm(rawValue: $0) }) else {
            throw refusal("alg", "is not an algorithm for signatures")
        }
        return algorithm
    }

    /// The URL of a set with a secret, which is not fetched; nil for public keys, and for a local file.
    func secret(
        _ algorithm: SignatureAlgorithm, _ findings: inout ImportFindings
    ) throws(Refusal) -> String? {
        guard algorithm.isSymmetric, node["jwk_local_path"]?.text?.isEmpty != false else {
            return nil
        }
        guard let url = node["jwk_url"]?.text, !url.isEmpty else {
            throw refusal("jwk_url", "is missing")
        }
        findings.warning(
            at: node["jwk_url"]?.location ?? node.location,
            "\(algorithm.rawValue) needs a secret, which is not fetched: write the set at '\(url)' to"
                + " the file that 'keys' names")
        return url
    }

    /// The members of `keys`.
    func keys(
        _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(String, YAMLTree)] {
        if let path = node["jwk_local_path"]?.text, !path.isEmpty {
            return [("file", .text(path))]
        }
        let url = try keySetURL()
        guard url.server.scheme == .https || url.server.isLoopback else {
            let (origin, target) = (url.text.dropLast(url.target.count), url.target)
            findings.warning(
                at: node["jwk_url"]?.location ?? node.location,
                "the keys are fetched without TLS, as in KrakenD: a set that is modified on the way"
                    + " accepts any token; write an https:// URL of '\(origin)'")
            return [
                ("from", .text(backends.nameOfKeyServer(String(origin)))), ("get", .text(target)),
            ] + refresh(&findings)
        }
        if node["disable_jwk_security"]?.flag == true, url.server.scheme == .https {
            findings.warning(
                at: node["disable_jwk_security"]?.location ?? node.location,
                "'disable_jwk_security' is left out: the certificate of '\(url.text)' is verified")
        }
        return [("url", .text(node["jwk_url"]?.text ?? ""))] + refresh(&findings)
    }

    private func keySetURL() throws(Refusal) -> Config.KeySetURL {
        guard let url = node["jwk_url"]?.text, !url.isEmpty else {
            throw refusal("jwk_url", "is missing")
        }
        do throws(Refusal) {
            return try Config.KeySetURL(parsing: url)
        } catch {
            throw refusal("jwk_url", error.message)
        }
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
    func places(
        _ findings: inout ImportFindings
    ) throws(Refusal) -> [KrakenDValidator.Place] {
        var places = [KrakenDValidator.Place(tree: nil, header: "Authorization")]
        if let header = node["auth_header_name"]?.text, header.lowercased() != "authorization",
            !header.isEmpty
        {
            guard (try? HeaderSyntax.check(name: header)) != nil else {
                throw refusal("auth_header_name", "is not the name of a header")
            }
            findings.warning(
                at: node["auth_header_name"]?.location ?? node.location,
                "'\(header)' must have the token alone, without 'Bearer'")
            places = [.init(tree: .inline([("header", .text(header))]), header: header)]
        }
        if let cookie = node["cookie_key"]?.text, !cookie.isEmpty {
            guard HeaderSyntax.isName(cookie) else {
                throw refusal("cookie_key", "is not the name of a cookie")
            }
            places.append(.init(tree: .inline([("cookie", .text(cookie))]), header: "Cookie"))
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

    private func path(
        _ key: String, _ claim: String, isNested: Bool
    ) throws(Refusal) -> String {
        guard let path = KrakenDValidator.path(of: claim, isNested: isNested) else {
            throw refusal(key, "has a claim that a reference cannot name: '\(claim)'")
        }
        return path
    }
}
