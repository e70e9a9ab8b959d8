import YAMLReader

/// Renames the keys of a version 2 configuration (KrakenD 1.x) to those of version 3; source
/// locations stay.
///
/// KrakenD 2 still accepts the old namespaces in a file of version 3, but not the old keys.
enum KrakenDVersion2 {
    static func renamed(_ root: DocumentNode, version: Int) -> DocumentNode {
        let keys = version == 2 ? oldKeys : [:]
        return root.mapMembers { member in
            member.key == "endpoints"
                ? member.with(member.node.mapElements { endpoint($0, keys) })
                : extras(member)
        }
    }

    private static func endpoint(
        _ node: DocumentNode, _ keys: [String: String]
    ) -> DocumentNode {
        node.mapMembers { member in
            member.key == "backend"
                ? member.with(member.node.mapElements { backend($0, keys) })
                : extras(member.named(keys[member.key]))
        }
    }

    private static func backend(_ node: DocumentNode, _ keys: [String: String]) -> DocumentNode {
        node.mapMembers { extras($0.named(keys[$0.key])) }
    }

    private static func extras(_ member: DocumentNode.Member) -> DocumentNode.Member {
        guard member.key == "extra_config" else { return member }
        return member.with(
            member.node.mapMembers { extra in
                let name = namespaces[extra.key.replacing("github_com", with: "github.com")]
                return extra.named(name).with(
                    extra.node.mapMembers { $0.named(oldSettings[$0.key]) })
            })
    }

    private static let oldKeys = [
        "whitelist": "allow", "blacklist": "deny", "headers_to_pass": "input_headers",
        "querystring_params": "input_query_strings",
    ]

    private static let oldSettings = [
        "maxErrors": "max_errors", "logStatusChange": "log_status_change", "maxRate": "max_rate",
        "clientMaxRate": "client_max_rate", "jwk-url": "jwk_url",
        "propagate-claims": "propagate_claims", "denylist": "deny", "blacklist": "deny",
        "allowlist": "allow", "whitelist": "allow",
    ]

    private static let namespaces: [String: String] = {
        let names = [
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
        var all = [
            "github.com/luraproject/lura/router/gin": "router",
            "github.com/luraproject/lura/proxy": "proxy",
            "github.com/letgoapp/krakend-influx": "telemetry/influx",
        ]
        for (old, new) in names {
            all["github.com/devopsfaith/\(old)"] = new
            all["github.com/krakendio/\(old)"] = new
        }
        return all
    }()
}

extension DocumentNode {
    /// A mapping with transformed members; any other node is unchanged.
    fileprivate func mapMembers(_ transform: (Member) -> Member) -> DocumentNode {
        guard case .mapping(let members) = content else { return self }
        return DocumentNode(location: location, content: .mapping(members.map(transform)))
    }

    fileprivate func mapElements(_ transform: (DocumentNode) -> DocumentNode) -> DocumentNode {
        guard case .sequence(let elements) = content else { return self }
        return DocumentNode(location: location, content: .sequence(elements.map(transform)))
    }
}

extension DocumentNode.Member {
    fileprivate func named(_ name: String?) -> DocumentNode.Member {
        .init(key: name ?? key, keyLocation: keyLocation, node: node)
    }

    fileprivate func with(_ node: DocumentNode) -> DocumentNode.Member {
        .init(key: key, keyLocation: keyLocation, node: node)
    }
}
