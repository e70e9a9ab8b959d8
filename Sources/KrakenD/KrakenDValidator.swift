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
    /// Where requests have the token.
    struct Place {
        /// The value of `token`; nil for `Authorization`.
        let tree: YAMLTree?
        /// The header that has it.
        let header: String

        /// Equal for equal places.
        var identity: String { tree?.identity ?? "" }
    }

    private let node: DocumentNode
    let findings = ImportFindings()
    /// The members of `jwt`. Endpoints with the same members share an authenticator.
    private(set) var jwt: YAMLMembers = []
    private(set) var places: [Place] = []
    /// The URL of the set whose secret a file has to contain; nil for public keys, and for a local file.
    private(set) var secret: String?
    private(set) var isSymmetric = false
    private(set) var scopes: [String] = []
    /// The conditions of `require`.
    private(set) var conditions: [YAMLTree] = []
    /// The headers that claims are sent in.
    private(set) var headers: [(name: String, claim: String)] = []

    /// - Parameter backends: gets the server of keys that are fetched without TLS
    init(
        _ node: DocumentNode, of endpoint: DocumentNode, _ backends: inout KrakenDBackends
    ) throws(Refusal) {
        self.node = node
        guard case .mapping = node.content else {
            throw Refusal("it is not a block", at: node.location)
        }
        try KrakenDTable.validator.checkSupport(of: node)
        if let strategy = node["key_identify_strategy"], strategy.text != "kid" {
            throw refusal("key_identify_strategy", "has no equivalent: keys are selected by 'kid'")
        }
        let audience = try texts("audience")
        jwt = [
            ("issuer", .text(issuer())),
            // A token must have all of them; the conditions require the others.
            ("audience", audience.first.map { .texts([$0]) } ?? .text("any")),
        ]
        let algorithm = try algorithm()
        jwt.append(("algorithms", .texts([algorithm.rawValue])))
        isSymmetric = algorithm.isSymmetric
        secret = try secret(algorithm)
        if secret == nil { jwt.append(("keys", .inline(try keys(&backends)))) }
        if let leeway = node["leeway"]?.goDuration {
            jwt.append(("leeway", .duration(min(leeway, Self.longestLeeway))))
        }
        scopes = try allScopes()
        if !scopes.isEmpty, let claim = node["scopes_key"]?.text {
            jwt.append(("scopes_claim", .text(claim)))
        }
        places = try tokenPlaces()
        conditions =
            audience.dropFirst().map { Self.condition("aud", "has", .text($0.literalTemplate)) }
            + (try roleConditions())
        headers = try claimHeaders(of: endpoint)
        KrakenDTable.validator.report(node, findings)
    }

    /// Equal for validators with the same `jwt` and the same secret.
    var identity: String { YAMLTree.inline(jwt).identity + (secret ?? "") }

    static let longestLeeway = Duration.seconds(300)

    /// The reference to a claim.
    static func reference(to claim: String) -> String { "token.\(claim)" }

    private static func condition(_ claim: String, _ test: String, _ value: YAMLTree) -> YAMLTree {
        .inline([("value", .text("{\(reference(to: claim))}")), (test, value)])
    }

    /// The path of a claim in a reference; nil if there is none. KrakenD separates names by dots, except
    /// in the claims that URLs name.
    static func path(of claim: String, isNested: Bool = true) -> String? {
        guard !claim.isEmpty, !claim.contains(where: { $0.isWhitespace || "{}".contains($0) })
        else { return nil }
        let names = isNested && !claim.hasPrefix("http") ? claim.steps : [claim]
        return names.map { name in
            let isPlain = name.allSatisfy { sign in
                sign.isASCII && (sign.isLetter || sign.isNumber || "_-".contains(sign))
            }
            return isPlain && !name.isEmpty ? name : String(jsonQuoting: name)
        }.joined(separator: ".")
    }

    private func path(
        _ key: String, _ claim: String, isNested: Bool = true
    ) throws(Refusal) -> String {
        guard let path = Self.path(of: claim, isNested: isNested) else {
            throw refusal(key, "has a claim that a reference cannot name: '\(claim)'")
        }
        return path
    }

    private func refusal(_ key: String, _ reason: String) -> Refusal {
        Refusal("its '\(key)' \(reason)", at: node.location(of: key))
    }

    /// A list of texts; empty if it is absent.
    private func texts(_ key: String) throws(Refusal) -> [String] {
        guard let list = node[key] else { return [] }
        guard case .sequence(let elements) = list.content, list.texts.count == elements.count else {
            throw refusal(key, "is not a list of texts")
        }
        return list.texts
    }

    // MARK: Tokens

    /// KrakenD does not read the claim of a validator without an issuer.
    private func issuer() -> String {
        if let issuer = node["issuer"]?.name { return issuer }
        findings.note(
            at: node.location(of: "issuer"),
            "'issuer: any', because the validator has no 'issuer': tokens of every issuer whose keys"
                + " these are, as in KrakenD; write the issuer's name")
        return "any"
    }

    private func algorithm() throws(Refusal) -> SignatureAlgorithm {
        guard let node = node["alg"] else { return .rs256 }
        guard let algorithm = node.text.flatMap({ SignatureAlgorithm(rawValue: $0) }) else {
            throw refusal("alg", "is not an algorithm for signatures")
        }
        return algorithm
    }

    /// The URL of a set with a secret, which is not fetched; nil for public keys, and for a local file.
    private func secret(_ algorithm: SignatureAlgorithm) throws(Refusal) -> String? {
        guard algorithm.isSymmetric, node["jwk_local_path"]?.text?.isEmpty != false else {
            return nil
        }
        let url = try keySetText()
        findings.warning(
            at: node.location(of: "jwk_url"),
            "\(algorithm.rawValue) needs a secret, which is not fetched: write the set at '\(url)' to"
                + " the file that 'keys' names")
        return url
    }

    private func keySetText() throws(Refusal) -> String {
        guard let url = node["jwk_url"]?.name else { throw refusal("jwk_url", "is missing") }
        return url
    }

    /// The members of `keys`.
    private func keys(_ backends: inout KrakenDBackends) throws(Refusal) -> YAMLMembers {
        if let path = node["jwk_local_path"]?.name { return [("file", .text(path))] }
        let text = try keySetText()
        let url: Config.KeySetURL
        do throws(Refusal) {
            url = try Config.KeySetURL(parsing: text)
        } catch {
            throw refusal("jwk_url", error.message)
        }
        guard url.server.scheme == .https || url.server.isLoopback else {
            let origin = String(url.text.dropLast(url.target.count))
            findings.warning(
                at: node.location(of: "jwk_url"),
                "the keys are fetched without TLS, as in KrakenD: a set that is modified on the way"
                    + " accepts any token; write an https:// URL of '\(origin)'")
            return [
                ("from", .text(backends.nameOfKeyServer(origin))), ("get", .text(url.target)),
            ] + refresh()
        }
        if node.has("disable_jwk_security"), url.server.scheme == .https {
            findings.warning(
                at: node.location(of: "disable_jwk_security"),
                "'disable_jwk_security' is left out: the certificate of '\(url.text)' is verified")
        }
        return [("url", .text(text))] + refresh()
    }

    /// KrakenD fetches the keys for every request, unless it caches them.
    private func refresh() -> YAMLMembers {
        guard node.has("cache") else {
            findings.note(
                at: node["cache"]?.location ?? node.location(of: "jwk_url"),
                "the keys are fetched every minute, or as their 'max-age' permits, instead of for"
                    + " each request")
            return [("refresh", .text("1m"))]
        }
        guard let seconds = node["cache_duration"]?.integer, seconds > 0 else { return [] }
        return [("refresh", .duration(.seconds(min(max(seconds, 60), 86_400))))]
    }

    /// KrakenD reads the header first, then the cookie.
    private func tokenPlaces() throws(Refusal) -> [Place] {
        var places = [Place(tree: nil, header: "Authorization")]
        if let header = node["auth_header_name"]?.name, header.lowercased() != "authorization" {
            guard (try? HeaderSyntax.check(name: header)) != nil else {
                throw refusal("auth_header_name", "is not the name of a header")
            }
            findings.warning(
                at: node.location(of: "auth_header_name"),
                "'\(header)' must have the token alone, without 'Bearer'")
            places = [Place(tree: .inline([("header", .text(header))]), header: header)]
        }
        if let cookie = node["cookie_key"]?.name {
            guard HeaderSyntax.isName(cookie) else {
                throw refusal("cookie_key", "is not the name of a cookie")
            }
            places.append(Place(tree: .inline([("cookie", .text(cookie))]), header: "Cookie"))
        }
        return places
    }

    // MARK: Callers

    /// The scopes that a token must have, all of them.
    private func allScopes() throws(Refusal) -> [String] {
        let scopes = try texts("scopes")
        guard scopes.allSatisfy({ !$0.contains(where: \.isWhitespace) && !$0.isEmpty }) else {
            throw refusal("scopes", "has a scope with a space")
        }
        guard scopes.count < 2 || node["scopes_matcher"]?.text == "all" else {
            throw refusal(
                node["scopes_matcher"] == nil ? "scopes" : "scopes_matcher",
                "accepts tokens with any of several scopes; 'scopes' here requires all of them")
        }
        return scopes
    }

    /// One of the roles is enough.
    private func roleConditions() throws(Refusal) -> [YAMLTree] {
        let roles = try texts("roles")
        guard !roles.isEmpty else { return [] }
        let claim = try path(
            "roles_key", node["roles_key"]?.text ?? "roles",
            isNested: node.has("roles_key_is_nested"))
        return [Self.condition(claim, "has_any", .texts(roles.map(\.literalTemplate)))]
    }

    /// KrakenD sends a header only if the endpoint forwards it; the claim replaces the client's.
    private func claimHeaders(
        of endpoint: DocumentNode
    ) throws(Refusal) -> [(name: String, claim: String)] {
        let forwarded = Set((endpoint["input_headers"]?.texts ?? []).map { $0.lowercased() })
        var headers: [(name: String, claim: String)] = []
        for pair in node["propagate_claims"]?.elements ?? [] {
            guard pair.texts.count == 2, (try? HeaderSyntax.check(name: pair.texts[1])) != nil
            else { throw refusal("propagate_claims", "is not a list of claims with headers") }
            let (claim, name) = (pair.texts[0], pair.texts[1])
            guard forwarded.contains("*") || forwarded.contains(name.lowercased()) else {
                findings.note(
                    at: pair.location,
                    "'\(name)' is not sent, as in KrakenD: 'input_headers' does not list it")
                continue
            }
            headers.append((name, try path("propagate_claims", claim)))
        }
        let backends = endpoint["backend"]?.elements ?? []
        guard headers.isEmpty || !backends.contains(where: { $0["input_headers"] != nil }) else {
            throw refusal(
                "propagate_claims", "sends headers that 'input_headers' of a backend selects")
        }
        return headers
    }
}

extension String {
    /// The text as a template without references.
    var literalTemplate: String { replacing("{", with: "{{").replacing("}", with: "}}") }
}
