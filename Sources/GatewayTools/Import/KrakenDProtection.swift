import YAMLReader

/// What decides in KrakenD who may call an endpoint. None of it has an equivalent, so an endpoint
/// that has it would be open to everybody.
struct KrakenDProtection {
    /// The key, as it is called in version 3.
    let name: String
    let location: SourceLocation

    /// The extensions of one endpoint, or of its backends, that protect it.
    static func all(ofEndpoint node: DocumentNode) -> [KrakenDProtection] {
        let nodes = [node] + (node["backend"]?.elements ?? [])
        return nodes.flatMap { $0["extra_config"]?.members ?? [] }
            .filter { protects($0.key) || mayRefuse($0) }
            .map { KrakenDProtection(name: $0.key, location: $0.keyLocation) }
    }

    /// What protects every endpoint of the service.
    static func all(ofService root: DocumentNode) -> [KrakenDProtection] {
        var all: [KrakenDProtection] = []
        if let tls = root["tls"], tls["enable_mtls"]?.flag == true {
            all.append(
                KrakenDProtection(
                    name: "enable_mtls", location: tls["enable_mtls"]?.location ?? tls.location))
        }
        for member in root["extra_config"]?.members ?? [] where protectsService(member) {
            all.append(KrakenDProtection(name: member.key, location: member.keyLocation))
        }
        return all
    }

    /// A script or a plugin that handles the request first, or an expression about the client; each
    /// may refuse the request.
    private static func mayRefuse(_ member: DocumentNode.Member) -> Bool {
        switch member.key {
        case "modifier/lua-endpoint", "modifier/lua-proxy", "modifier/lua-backend":
            member.node["pre"] != nil
        case "plugin/req-resp-modifier", "plugin/request-modifier", "plugin/http-client":
            hasUnknownPlugin(member.node)
        case "validation/cel":
            member.node.elements.compactMap { $0["check_expr"]?.text }
                .contains { $0.contains("JWT") || $0.contains("req_headers") }
        default: false
        }
    }

    /// Whether an extension of an endpoint decides who may call it.
    static func protects(_ key: String) -> Bool {
        if key.hasPrefix("auth/") { return !ofBackends.contains(key) }
        if key.hasPrefix("github") {
            // Builds of one's own have namespaces of their own.
            return ["auth", "jose", "jwt", "apikey"].contains { key.lowercased().contains($0) }
        }
        return key == "security/policies"
    }

    private static func protectsService(_ member: DocumentNode.Member) -> Bool {
        switch member.key {
        // They only describe keys and users; an endpoint has to name them to be protected.
        case "auth/api-keys", "auth/basic", "auth/revoker": false
        case "auth/validator", "auth/signer":
            member.node.members.contains { $0.key != "shared_cache_duration" }
        case "plugin/http-server": hasUnknownPlugin(member.node)
        case "modifier/lua-endpoint": mayRefuse(member)
        default: protects(member.key)
        }
    }

    /// What a plugin does is unknown, except for those that come with KrakenD. A client plugin is
    /// one name, the others are lists.
    private static func hasUnknownPlugin(_ node: DocumentNode) -> Bool {
        let names = (node["name"]?.texts ?? []) + [node["name"]?.text].compactMap { $0 }
        return names.contains { !harmlessPlugins.contains($0) }
    }

    /// By these the gateway shows a backend who it is.
    private static let ofBackends: Set<String> = [
        "auth/client-credentials", "auth/aws-sigv4", "auth/gcp", "auth/ntlm", "auth/oauth",
    ]

    private static let harmlessPlugins: Set<String> = [
        "static-filesystem", "virtualhost", "wildcard", "geoip", "jwk-aggregator",
        "redis-ratelimit", "url-rewrite", "content-replacer", "response-schema-validator",
        "no-redirect", "http-logger", "http-proxy",
    ]
}
