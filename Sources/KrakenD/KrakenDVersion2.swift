import YAMLReader

/// Renames the keys of a version 2 configuration (KrakenD 1.x) to the keys of version 3; source
/// locations stay.
///
/// KrakenD 2 still accepts the old namespaces in a file of version 3, but not the old keys.
enum KrakenDVersion2 {
    static func renamed(_ root: DocumentNode, version: Int) -> DocumentNode {
        renamed(root, [:], inside: version == 2 ? keys : [:])
    }

    /// The recursion goes from the service to its endpoints and their backends.
    private static func renamed(
        _ node: DocumentNode, _ names: [String: String], inside inner: [String: String]
    ) -> DocumentNode {
        node.mapMembers { member in
            switch (member.key, member.node.content) {
            case ("extra_config", _):
                member.with(
                    node: member.node.mapMembers { extra in
                        extra.with(
                            name: namespace(for: extra.key),
                            node: extra.node.mapMembers { $0.with(name: settings[$0.key]) })
                    })
            case ("endpoints", .sequence(let elements)), ("backend", .sequence(let elements)):
                member.with(
                    node: DocumentNode(
                        location: member.node.location,
                        content: .sequence(elements.map { renamed($0, inner, inside: inner) })))
            default: member.with(name: names[member.key])
            }
        }
    }

    /// The name in version 3; nil for a name that is not from version 2.
    private static func namespace(for name: String) -> String? {
        let path = name.replacing("github_com", with: "github.com")
        guard path.hasPrefix("github.com/") else { return nil }
        let repository = path.dropFirst("github.com/".count)
        let owner = ["devopsfaith/", "krakendio/"].first { repository.hasPrefix($0) } ?? ""
        return namespaces[String(repository.dropFirst(owner.count))]
    }

    /// Of endpoints and backends.
    private static let keys = [
        "whitelist": "allow", "blacklist": "deny", "headers_to_pass": "input_headers",
        "querystring_params": "input_query_strings",
    ]

    /// Of the blocks in `extra_config`.
    private static let settings = [
        "maxErrors": "max_errors", "logStatusChange": "log_status_change", "maxRate": "max_rate",
        "clientMaxRate": "client_max_rate", "jwk-url": "jwk_url",
        "propagate-claims": "propagate_claims", "denylist": "deny", "blacklist": "deny",
        "allowlist": "allow", "whitelist": "allow",
    ]

    /// By repository, without the owner.
    private static let namespaces = [
        "luraproject/lura/router/gin": "router", "luraproject/lura/proxy": "proxy",
        "letgoapp/krakend-influx": "telemetry/influx",
        "krakend/proxy": "proxy", "krakend/http": "backend/http",
        "krakend/transport/http/server/handler": "plugin/http-server",
        "krakend/transport/http/client/executor": "plugin/http-client",
        "krakend/transport/http/client/graphql": "backend/graphql",
        "krakend/proxy/plugin": "plugin/req-resp-modifier",
        "krakend/proxy/plugin/request": "plugin/request-modifier",
        "krakend/proxy/plugin/response": "plugin/response-modifier",
        "krakend/router/gin": "router",
        "krakend-ratelimit/juju/router": "qos/ratelimit/router",
        "krakend-ratelimit/juju/proxy": "qos/ratelimit/proxy",
        "krakend-ratelimit/rate/router": "qos/ratelimit/router",
        "krakend-ratelimit/rate/proxy": "qos/ratelimit/proxy",
        "krakend-httpcache": "qos/http-cache",
        "krakend-circuitbreaker/gobreaker": "qos/circuit-breaker",
        "krakend-oauth2-clientcredentials": "auth/client-credentials",
        "krakend-jose/validator": "auth/validator", "krakend-jose/signer": "auth/signer",
        "bloomfilter": "auth/revoker", "krakend-apikeys": "auth/api-keys",
        "krakend-botdetector": "security/bot-detector", "krakend-cors": "security/cors",
        "krakend-httpsecure": "security/http", "krakend-cel": "validation/cel",
        "krakend-jsonschema": "validation/json-schema",
        "krakend-amqp/consume": "backend/amqp/consumer",
        "krakend-amqp/produce": "backend/amqp/producer", "krakend-lambda": "backend/lambda",
        "krakend-pubsub/publisher": "backend/pubsub/publisher",
        "krakend-pubsub/subscriber": "backend/pubsub/subscriber",
        "krakend-gelf": "telemetry/gelf", "krakend-gologging": "telemetry/logging",
        "krakend-logstash": "telemetry/logstash", "krakend-metrics": "telemetry/metrics",
        "krakend-influx": "telemetry/influx", "krakend-opencensus": "telemetry/opencensus",
        "krakend-instana": "telemetry/instana", "krakend-lua/router": "modifier/lua-endpoint",
        "krakend-lua/proxy": "modifier/lua-proxy",
        "krakend-lua/proxy/backend": "modifier/lua-backend",
        "krakend-martian": "modifier/martian", "krakend-swagger": "generator/openapi",
        "krakend-websocket": "websocket",
    ]
}

extension DocumentNode {
    /// A mapping with transformed members; any other node is unchanged.
    fileprivate func mapMembers(_ transform: (Member) -> Member) -> DocumentNode {
        guard case .mapping(let members) = content else { return self }
        return DocumentNode(location: location, content: .mapping(members.map(transform)))
    }
}

extension DocumentNode.Member {
    fileprivate func with(name: String? = nil, node: DocumentNode? = nil) -> DocumentNode.Member {
        .init(key: name ?? key, keyLocation: keyLocation, node: node ?? self.node)
    }
}
