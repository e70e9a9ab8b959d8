/// Why something of KrakenD has no equivalent, and what to do about it.
enum KrakenDReasons {
    static let ofService = [
        "tls": "TLS for clients is not there yet; put a proxy that ends TLS before it",
        "write_timeout": "the time of an answer is bounded by its 'deadline'",
        "output_encoding": "answers are JSON",
        "max_idle_connections": "idle connections are counted for each backend ('keepalive')",
        "debug_endpoint": "'tributary explain' shows what becomes of a request",
        "echo_endpoint": "'tributary explain' shows what becomes of a request",
        "sequential_start": "backends are not asked at start",
        "disable_keep_alives": "'keepalive: { max_idle: 0 }' on a backend keeps no connection",
        "disable_compression": "answers of backends are asked for without compression",
        "disable_rest": "paths match as they are written",
        "plugin": "there are no plugins", "async_agent": "there are no queues, only HTTP",
    ]

    static let ofRouter = [
        "return_error_msg": "a failure's kind is told in 'failures'; 'relay_body' passes a body on",
        "error_body": "errors are RFC 9457 problems, always",
        "health_path": "the admin address has /livez and /readyz",
        "disable_health": "the admin address has /livez and /readyz; nothing is on the main port",
        "hide_version_header": "there is no such header",
        "auto_options": "an OPTIONS route can be written like any other",
        "disable_redirect_trailing_slash": "no path is redirected",
        "disable_redirect_fixed_path": "no path is redirected",
        "remove_extra_slash": "paths match as they are written",
        "disable_path_decoding": "paths match on their encoded segments",
        "disable_handle_method_not_allowed": "a wrong method is a 405 with 'Allow'",
        "forwarded_by_client_ip": "client addresses are those of the connections",
        "remote_ip_headers": "client addresses are those of the connections",
        "trusted_proxies": "client addresses are those of the connections",
        "logger_skip_paths": "the access log is on or off ('log: { access: false }')",
        "max_multipart_memory": "bodies are buffered up to 'max_body'",
    ]

    static let ofProxy = [
        "flatmap_filter": "'keep', 'drop' and 'rename' go through lists: items[].price",
        "combiner": "each call has a name of its own, or is merged with 'at: .'",
        "decompress_gzip": "backends are not asked for compressed answers",
    ]

    /// Of `extra_config`, wherever it stands.
    static let ofExtras = [
        "qos/ratelimit/service": rate, "qos/ratelimit/router": rate, "qos/ratelimit/proxy": rate,
        "qos/ratelimit/tiered": rate,
        "qos/http-cache":
            "answers of backends are not kept; 'cache_control' lets clients keep ours",
        "auth/validator": token, "auth/basic": token, "auth/api-keys": token, "auth/signer": token,
        "auth/client-credentials":
            "tokens are not fetched; 'headers' with ${VAR} sends a fixed one",
        "security/cors": "answer OPTIONS and set CORS headers in a proxy before it",
        "security/http": "set such headers in a proxy before it",
        "security/bot-detector": "clients are not judged by their names",
        "security/policies": script,
        "modifier/martian": "fixed header lines are written as 'headers' of the call",
        "validation/cel":
            "there are no expressions; 'params' and 'body' say what a request must be",
        "validation/response-json-schema": "answers of backends are not checked but to be JSON",
        "documentation/openapi": "'tributary openapi' describes the endpoints",
        "backend/http/client": "connections are set up by 'keepalive' and 'connect_timeout'",
        "backend/soap": xml, "backend/graphql": "write the query as the 'body' of a post",
        "backend/lambda": queue, "backend/amqp/consumer": queue, "backend/amqp/producer": queue,
        "backend/pubsub/subscriber": queue, "backend/pubsub/publisher": queue,
        "backend/grpc": "backends speak HTTP/1.1",
        "websocket": "there are no websockets",
    ]

    /// Of a kind of extension.
    static func general(_ key: String) -> String {
        if key.hasPrefix("telemetry/") { return "metrics are at /metrics of the admin address" }
        if key.hasPrefix("modifier/") || key.hasPrefix("plugin/") { return script }
        if key.hasPrefix("auth/") { return token }
        if key.hasPrefix("backend/") { return queue }
        return "there is nothing like it"
    }

    private static let rate =
        "requests are not counted in time; 'max_in_flight' and 'max_concurrent' bound how many run"
    private static let token =
        "tokens are not checked here; forward 'Authorization' and let backends check it"
    private static let script = "there are no scripts and plugins"
    private static let queue = "backends are reached by HTTP"
    private static let xml = "backends have to answer JSON"
}
