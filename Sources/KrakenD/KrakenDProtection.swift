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
        return nodes.flatMap { $0["extra_config"]?.members ?? [] }
            .filter { protects($0.key) || mayRefuse($0) }
            .map { KrakenDProtection(name: $0.key, location: $0.keyLocation) }
    }

    /// The extensions that protect every endpoint of the service.
    static func all(ofService root: DocumentNode) -> [KrakenDProtection] {
        var all: [KrakenDProtection] = []
        if let setting = KrakenDListen.lostProtection(of: root) {
            all.append(KrakenDProtection(name: "enable_mtls", location: setting.location))
        }
        for member in root["extra_config"]?.members ?? [] where protectsService(member) {
            all.append(KrakenDProtection(name: member.key, location: member.keyLocation))
        }
        return all
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
        // KrakenD ignores such keys; they are used for comments.
        guard let first = key.first, !"@_$".contains(first) else { return false }
        if key == "security/policies" { return true }
        guard !ofBackends.contains(key) else { return false }
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
        let names = (node["name"]?.texts ?? []) + [node["name"]?.text].compactMap { $0 }
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
