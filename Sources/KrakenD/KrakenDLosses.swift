/// Why a KrakenD setting has no equivalent, what to do about it, and the severity of the loss.
enum KrakenDLosses {
    static let ofService: [String: ImportLoss] = [
        "write_timeout": .note("'deadline' limits the time of a response"),
        "max_idle_connections": .note("idle connections are limited per backend ('keepalive')"),
        "debug_endpoint": .note("'tributary explain' shows how a request is handled"),
        "echo_endpoint": .note("'tributary explain' shows how a request is handled"),
        "sequential_start": .note("the gateway calls no backend at start"),
        "disable_keep_alives": .note(
            "'keepalive: { max_idle: 0 }' on a backend keeps no connection"),
        "disable_compression": .note("calls request uncompressed responses"),
        "disable_rest": .note("paths match exactly"),
        "disable_strict_rest": .note("paths match exactly"),
        "response_header_timeout": .note("'timeout' limits a whole call"),
        "expect_continue_timeout": .note("calls do not wait for 100 Continue"),
        "dialer_fallback_delay": .note("addresses are tried in order, within 'connect_timeout'"),
        "dialer_keep_alive": .note("'keepalive' limits idle connections"),
        "plugin": .note("plugins are not supported"),
        "async_agent": .warning("message queues are not supported"),
    ]

    static let ofRouter: [String: ImportLoss] = [
        "return_error_msg": .note(
            "'failures' lists kinds of failures; 'relay_body' relays a body"),
        "error_body": .warning("errors are RFC 9457 problems"),
        "health_path": .note("the admin address has /livez and /readyz"),
        "disable_health": .note("the admin address has /livez and /readyz"),
        "hide_version_header": .note("there is no such header"),
        "use_h2c": .note("'protocols' of 'listen' has http2"),
        "auto_options": .warning(
            "OPTIONS needs a route of its own; preflights of 'cors' need none"),
        "disable_redirect_trailing_slash": .note("no path is redirected"),
        "disable_redirect_fixed_path": .note("no path is redirected"),
        "remove_extra_slash": .warning("paths match exactly"),
        "disable_path_decoding": .note("paths match by their encoded segments"),
        "disable_handle_method_not_allowed": .note("a wrong method gets a 405 with 'Allow'"),
        "logger_skip_paths": .note("the access log is on or off ('log: { access: false }')"),
        "max_multipart_memory": .note("bodies are buffered up to 'max_body'"),
    ]

    static let ofProxy: [String: ImportLoss] = [
        "combiner": .warning("each response has its own key, or is merged with 'at: .'"),
        "decompress_gzip": .note("calls request uncompressed responses"),
    ]

    /// Of `extra_config`, at any level.
    static let ofExtras: [String: ImportLoss] = [
        "qos/ratelimit/service": rate, "qos/ratelimit/router": rate, "qos/ratelimit/proxy": rate,
        "qos/ratelimit/tiered": .warning("write 'plans' of a rate limit"),
        "qos/http-cache": .warning(
            "backend responses are not cached, so the backend gets every request; 'cache_control' lets"
                + " clients cache responses"),
        "auth/client-credentials": .warning(
            "the gateway does not request tokens; 'headers' with ${VAR} sends a fixed one"),
        "security/cors": .warning("'cors' of the service applies; write 'cors' on the endpoint"),
        "security/http": .warning(
            "those of the service apply; write 'response_headers' on the endpoint"),
        "security/bot-detector": .warning("'user_agents' applies to all requests"),
        "validation/cel": .warning(
            "expressions are not supported, so requests that it refused are accepted; 'params' and"
                + " 'body' validate requests, and 'when' makes a call depend on values"),
        "validation/response-json-schema": .warning(
            "backend responses are only checked to be JSON"),
        "documentation/openapi": .note("'tributary openapi' describes the endpoints"),
        "generator/openapi": .note("'tributary openapi' describes the endpoints"),
        "backend/http/client": .note("'keepalive' and 'connect_timeout' configure connections"),
    ]

    /// Of `websocket` with `enable_direct_communication`, whose bytes pass unchanged.
    static let ofWebSocket: [String: ImportLoss] = [
        "max_message_size": .warning(
            "messages of any size pass; 'max_duration' bounds a connection"),
        "connect_event": event, "disconnect_event": event,
        "subprotocols": .note(
            "client and backend negotiate them"),
        "timeout": .note("'idle_timeout' limits the time in which no byte passes"),
        "read_buffer_size": buffer, "write_buffer_size": buffer, "message_buffer_size": buffer,
        "ping_period": ping, "pong_wait": ping, "write_wait": ping,
        "max_retries": retry, "backoff_strategy": retry,
        "return_error_details": .note("clients get the backend's response"),
        "disable_otel_metrics": .note("the admin address has /metrics"),
    ]
    private static let event = ImportLoss.warning("the backend gets the bytes of clients only")
    private static let buffer = ImportLoss.note("buffers are bounded by 'buffered_bytes'")
    private static let ping = ImportLoss.note("client and backend exchange pings themselves")
    private static let retry = ImportLoss.note("each client has a connection of its own")

    /// Extensions that change what a backend is; their endpoints are left out.
    static let ofOtherBackends: [String: String] = [
        "backend/soap": "backends must respond with JSON",
        "backend/grpc": "JSON is not converted to gRPC; 'proxy' passes calls of gRPC through",
        "backend/graphql": "write the query as the 'body' of a post",
        "backend/lambda": "only HTTP backends are supported",
        "workflow": "workflows are not supported",
        "backend/static-filesystem": "serving files is not supported",
        "websocket": "connections of clients are not multiplexed to one of the backend; with"
            + " 'enable_direct_communication' the endpoint becomes a 'proxy' with 'upgrade'",
    ]

    /// The loss of a key without an entry, by its prefix.
    static func general(_ key: String) -> ImportLoss {
        if ["telemetry/opencensus", "telemetry/instana", "telemetry/newrelic"].contains(key) {
            return .note("'traces' exports spans over OTLP/HTTP; the admin address has /metrics")
        }
        if ["telemetry/gelf", "telemetry/logstash"].contains(key) {
            return .note("the log is JSON, on standard output or in a file, for a log collector")
        }
        if key.hasPrefix("telemetry/") { return .note("the admin address has /metrics") }
        if key.hasPrefix("documentation/") {
            return .note("the gateway does not generate documentation")
        }
        if key.hasPrefix("modifier/") || key.hasPrefix("plugin/") {
            return .warning("scripts and plugins are not supported")
        }
        if key.hasPrefix("auth/") {
            return .warning("this kind of authentication has no equivalent")
        }
        return .warning("there is no equivalent")
    }

    private static let rate = ImportLoss.warning(
        "write 'rate_limits' on the endpoints; 'max_concurrent' limits the calls to a backend")
}
