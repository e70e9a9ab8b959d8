/// Why something of KrakenD has no equivalent, what to do about it, and how much the loss weighs.
enum KrakenDLosses {
    static let ofService: [String: ImportLoss] = [
        "tls": .warning("put a proxy that ends TLS before the gateway"),
        "write_timeout": .note("the time of an answer is bounded by its 'deadline'"),
        "max_idle_connections": .note("idle connections are counted per backend ('keepalive')"),
        "debug_endpoint": .note("'tributary explain' shows what becomes of a request"),
        "echo_endpoint": .note("'tributary explain' shows what becomes of a request"),
        "sequential_start": .note("the start calls no backend"),
        "disable_keep_alives": .note(
            "'keepalive: { max_idle: 0 }' on a backend keeps no connection"),
        "disable_compression": .note("calls ask for uncompressed answers"),
        "disable_rest": .note("paths match as they are written"),
        "disable_strict_rest": .note("paths match as they are written"),
        "response_header_timeout": .note("'timeout' bounds a whole call"),
        "expect_continue_timeout": .note("calls do not wait for 100 Continue"),
        "dialer_fallback_delay": .note("addresses are tried in order, within 'connect_timeout'"),
        "dialer_keep_alive": .note("'keepalive' bounds idle connections"),
        "use_h2c": .warning("clients speak HTTP/1.1"),
        "plugin": .note("there are no plugins"),
        "async_agent": .warning("there are no queues, only HTTP"),
    ]

    static let ofRouter: [String: ImportLoss] = [
        "return_error_msg": .note(
            "'failures' names the kind of a failure; 'relay_body' passes a body on"),
        "error_body": .warning("errors are RFC 9457 problems"),
        "health_path": .note("the admin address has /livez and /readyz"),
        "disable_health": .note("the admin address has /livez and /readyz"),
        "hide_version_header": .note("there is no such header"),
        "auto_options": .warning("OPTIONS is answered where a route names it"),
        "disable_redirect_trailing_slash": .note("no path is redirected"),
        "disable_redirect_fixed_path": .note("no path is redirected"),
        "remove_extra_slash": .warning("paths match as they are written"),
        "disable_path_decoding": .note("paths match by their encoded segments"),
        "disable_handle_method_not_allowed": .note("a wrong method gets a 405 with 'Allow'"),
        "logger_skip_paths": .note("the access log is on or off ('log: { access: false }')"),
        "max_multipart_memory": .note("bodies are buffered up to 'max_body'"),
    ]

    static let ofProxy: [String: ImportLoss] = [
        "combiner": .warning("each call has a name of its own, or is merged with 'at: .'"),
        "decompress_gzip": .note("calls ask for uncompressed answers"),
    ]

    /// Of `extra_config`, at any level.
    static let ofExtras: [String: ImportLoss] = [
        "qos/ratelimit/service": rate, "qos/ratelimit/router": rate, "qos/ratelimit/proxy": rate,
        "qos/ratelimit/tiered": rate,
        "qos/http-cache": .note(
            "answers of backends are not stored; 'cache_control' lets clients store ours"),
        "auth/client-credentials": .warning(
            "tokens are not fetched; 'headers' with ${VAR} sends a fixed one"),
        "security/cors": .warning(
            "answer OPTIONS and set CORS headers in a proxy before the gateway"),
        "security/http": .warning("set such headers in a proxy before the gateway"),
        "security/bot-detector": .warning("clients are not refused by their 'User-Agent'"),
        "validation/cel": .warning(
            "there are no expressions, so nothing refuses what it refused; 'params' and 'body' say"
                + " what a request must be"),
        "validation/response-json-schema": .warning(
            "answers of backends are checked to be JSON only"),
        "documentation/openapi": .note("'tributary openapi' describes the endpoints"),
        "generator/openapi": .note("'tributary openapi' describes the endpoints"),
        "backend/http/client": .note("'keepalive' and 'connect_timeout' set up connections"),
    ]

    /// Backends that are not reached by HTTP/1.1 with a URL and a JSON answer: the endpoint is lost.
    static let ofOtherBackends: [String: String] = [
        "backend/soap": "backends have to answer JSON", "backend/grpc": "backends speak HTTP/1.1",
        "backend/graphql": "write the query as the 'body' of a post",
        "backend/lambda": "backends are reached by HTTP", "workflow": "there are no workflows",
        "backend/static-filesystem": "there are no files", "websocket": "there are no websockets",
    ]

    /// By the kind of extension.
    static func general(_ key: String) -> ImportLoss {
        if key.hasPrefix("telemetry/") { return .note("the admin address has /metrics") }
        if key.hasPrefix("documentation/") { return .note("the documents are elsewhere") }
        if key.hasPrefix("modifier/") || key.hasPrefix("plugin/") {
            return .warning("there are no scripts and plugins")
        }
        if key.hasPrefix("auth/") { return .warning("the gateway does not authenticate") }
        return .warning("there is no equivalent")
    }

    private static let rate = ImportLoss.warning(
        "requests are not counted in time; 'max_in_flight' and 'max_concurrent' bound how many run")
}
