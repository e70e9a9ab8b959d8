import YAMLReader

/// A KrakenD extension that controls access to an endpoint. Unless `KrakenDAuth` converts it, it has
/// no equivalent, so the endpoint would be accessible without authentication.
struct KrakenDProtection {
    /// The key in version 3.
    let name: String
    let location: SourceLocation

    /// The extensions of one endpoint, or of its backends, that protect it.
    static func all(ofEndpoint node: DocumentNode) -> [KrakenDProtection] {
        let nodes = [node] + (node["backend"]?.elements ?? [])
        return nodes.flatMap(\.extras).filter { protects($0.key) || mayRefuse($0) }
            .map { KrakenDProtection(name: $0.key, location: $0.keyLocation) }
    }

    /// The extensions that protect every endpoint of the service.
    static func all(ofService root: DocumentNode) -> [KrakenDProtection] {
        let certificates = KrakenDListen(root).lostProtection.map {
            KrakenDProtection(name: "enable_mtls", location: $0.location)
        }
        return [certificates].compactMap(\.self)
            + root.extras.filter(protectsService).map {
                KrakenDProtection(name: $0.key, location: $0.keyLocation)
            }
    }

    /// Whether an extension may refuse the request: a script or a plugin that runs before the
    /// endpoint, or an expression about the client.
    private static func mayRefuse(_ member: DocumentNode.Member) -> Bool {
        switch member.key {
        case "modifier/lua-endpoint", "modifier/lua-proxy", "modifier/lua-backend":
            member.node["pre"] != nil
        case "plugin/req-resp-modifier", "plugin/request-modifier", "plugin/http-client":
            hasUnknownPlugin(member.node)
        case "validation/cel":
            member.node.elements.compactMap { $0["check_expr"]?.text }
                .contains { expression in
                    ["JWT", "req_headers", "req_querystring"].contains { expression.contains($0) }
                }
        default: false
        }
    }

    /// Whether an extension of an endpoint controls access to it.
    static func protects(_ key: String) -> Bool {
        guard !KrakenDTable.isComment(key), !ofBackends.contains(key) else { return false }
        if key == "security/policies" { return true }
        // Custom builds have their own namespaces.
        return ["auth", "jose", "jwt", "apikey", "api-key"].contains {
            key.lowercased().contains($0)
        }
    }

    private static func protectsService(_ member: DocumentNode.Member) -> Bool {
        switch member.key {
        // They only declare keys and users; an endpoint is protected only if it refers to them.
        case "auth/api-keys", "auth/basic", "auth/revoker": false
        case "auth/validator", "auth/signer":
            member.node.members.contains { $0.key != "shared_cache_duration" }
        case "plugin/http-server": hasUnknownPlugin(member.node)
        case "modifier/lua-endpoint": mayRefuse(member)
        default: protects(member.key)
        }
    }

    /// Whether a plugin is not one of KrakenD's own, so that its effect is unknown. A client plugin
    /// is a single name, the others are lists.
    private static func hasUnknownPlugin(_ node: DocumentNode) -> Bool {
        let names = (node["name"]?.texts ?? []) + [node["name"]?.text].compactMap(\.self)
        return names.contains { !harmlessPlugins.contains($0) }
    }

    /// Extensions that authenticate the gateway to a backend.
    private static let ofBackends: Set<String> = [
        "auth/client-credentials", "auth/aws-sigv4", "auth/gcp", "auth/ntlm", "auth/oauth",
    ]

    private static let harmlessPlugins: Set<String> = [
        "static-filesystem", "virtualhost", "wildcard", "geoip", "jwk-aggregator",
        "redis-ratelimit", "url-rewrite", "content-replacer", "response-schema-validator",
        "no-redirect", "http-logger", "http-proxy",
    ]
}

/// The headers of an endpoint in which KrakenD sends the identity of the caller: claims of its token,
/// or the role of its key.
///
/// A client never sets them, also where the protection could not be converted: backends rely on them.
struct KrakenDIdentity {
    /// The names, with the text of the configuration that sets them.
    private(set) var headers: [(name: String, source: String, location: SourceLocation)] = []

    init(_ endpoint: DocumentNode, service: DocumentNode) {
        for node in [endpoint, service] + (endpoint["backend"]?.elements ?? []) {
            for member in node.extras { add(member.node) }
        }
    }

    private mutating func add(_ settings: DocumentNode) {
        for pair in settings["propagate_claims"]?.elements ?? [] where pair.texts.count == 2 {
            headers.append((pair.texts[1], "the claim '\(pair.texts[0])'", pair.location))
        }
        if let role = settings["propagate_role"], let name = role.name {
            headers.append((name, "the role of the caller", role.location))
        }
    }

    func contains(_ name: String) -> Bool {
        headers.contains { Self.spelled($0.name) == Self.spelled(name) }
    }

    /// Many servers read `_` as `-`.
    private static func spelled(_ name: String) -> String {
        name.lowercased().replacing("_", with: "-")
    }

    /// Reports the headers that KrakenD sends and the result does not.
    func reportLosses(
        except sent: [String], of endpoint: DocumentNode, _ findings: ImportFindings
    ) {
        let listed = (endpoint["input_headers"]?.texts ?? []).map(Self.spelled)
        for header in headers where !sent.contains(header.name) {
            guard listed.contains("*") || listed.contains(Self.spelled(header.name))
            else { continue }
            findings.warning(
                at: header.location,
                "'\(header.name)' is not forwarded: it has \(header.source), and a client could send"
                    + " any other; 'headers' of the endpoint sends it, once the endpoint has 'auth'"
            )
        }
    }
}
