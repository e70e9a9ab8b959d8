/// Names of `extra_config` that several converters read.
enum KrakenDExtra {
    static let basic = "auth/basic"
    static let conditional = "backend/conditional"
    static let jsonSchema = "validation/json-schema"
    static let keys = "auth/api-keys"
    static let rateLimit = "qos/ratelimit/router"
    static let validator = "auth/validator"
    static let websocket = "websocket"
}

/// The keys of KrakenD's objects.
extension KrakenDTable {
    // MARK: extra_config

    /// `KrakenDAuth` decides about authentication of the service.
    static let extrasOfService: KrakenDTable =
        [
            "router telemetry/logging telemetry/opentelemetry qos/ratelimit/service": .converted,
            "security/cors security/http security/bot-detector": .converted,
        ] + extras

    static let extrasOfEndpoint: KrakenDTable =
        ["proxy qos/ratelimit/router validation/json-schema websocket": .converted] + extras

    static let extrasOfBackend: KrakenDTable =
        [
            "backend/http backend/http/client backend/conditional proxy": .converted,
            "modifier/martian qos/circuit-breaker": .converted,
        ] + extras

    /// The namespaces where they are not converted. A backend with a refused one is not an HTTP server.
    static let extras: KrakenDTable = [
        "qos/ratelimit/service qos/ratelimit/router qos/ratelimit/proxy": .warning(
            "write 'rate_limits' on the endpoints; 'max_concurrent' limits the calls to a backend"),
        "qos/ratelimit/tiered": .warning("write 'plans' of a rate limit"),
        "qos/http-cache": .warning(
            "backend responses are not cached, so the backend gets every request; 'cache_control' lets"
                + " clients cache responses"),
        "auth/client-credentials": .warning(
            "the gateway does not request tokens; 'headers' with ${VAR} sends a fixed one"),
        "security/cors": .warning("'cors' of the service applies; write 'cors' on the endpoint"),
        "security/http": .warning(
            "the service's headers apply; write 'response_headers' on the endpoint"),
        "security/bot-detector": .warning("'user_agents' applies to all requests"),
        "validation/cel": .warning(
            "expressions are not supported, so requests that it refused are accepted; 'params' and"
                + " 'body' validate requests, and 'when' makes a call depend on values"),
        "validation/response-json-schema": .warning(
            "backend responses are only checked to be JSON"),
        "documentation/openapi generator/openapi": .note(
            "'tributary openapi' describes the endpoints"),
        "backend/http/client": .note("'keepalive' and 'connect_timeout' configure connections"),
        "backend/soap": .refused("backends must respond with JSON"),
        "backend/grpc": .refused(
            "JSON is not converted to gRPC; 'proxy' passes calls of gRPC through"),
        "backend/graphql": .refused("write the query as the 'body' of a post"),
        "backend/lambda": .refused("only HTTP backends are supported"),
        "backend/static-filesystem": .refused("serving files is not supported"),
        "workflow": .refused("workflows are not supported"),
        "websocket": .refused(
            "connections of clients are not multiplexed to one of the backend; with"
                + " 'enable_direct_communication' the endpoint becomes a 'proxy' with 'upgrade'"),
    ]

    // MARK: Service

    static let service: KrakenDTable = [
        "$schema version name host timeout cache_ttl endpoints": .converted,
        "output_encoding extra_config client_tls tls allow_insecure_connections": .converted,
        "use_h2c": .converted,
        "port": .checked {
            KrakenDListen.port($0) == nil ? "'port' becomes 8080: it is not a port" : nil
        },
        "listen_ip": .checked {
            KrakenDListen.host($0) == nil
                ? "'listen_ip' becomes 127.0.0.1: it is not an address" : nil
        },
        "dialer_timeout": .written("defaults.connect_timeout", YAMLTree.duration),
        "max_header_bytes": .written("limits.header_bytes", YAMLTree.bytes),
        "read_header_timeout": .written("limits.header_timeout", YAMLTree.duration),
        "read_timeout": .written("limits.body_timeout", YAMLTree.duration),
        "idle_timeout": .written("limits.idle_timeout", YAMLTree.duration),
        "max_idle_connections_per_host": .written("keepalive.max_idle", YAMLTree.count),
        "idle_connection_timeout": .written("keepalive.idle_timeout", YAMLTree.duration),
        "dns_cache_ttl": .written("backends.dns_ttl", YAMLTree.duration),
        "write_timeout": .note("'deadline' limits the time of a response"),
        "max_idle_connections": .note("idle connections are limited per backend ('keepalive')"),
        "debug_endpoint echo_endpoint": .note("'tributary explain' shows how a request is handled"),
        "sequential_start": .note("the gateway calls no backend at start"),
        "disable_keep_alives": .note(
            "'keepalive: { max_idle: 0 }' on a backend keeps no connection"),
        "disable_compression": .note("calls request uncompressed responses"),
        "disable_rest disable_strict_rest": .note("paths match exactly"),
        "response_header_timeout": .note("'timeout' limits a whole call"),
        "expect_continue_timeout": .note("calls do not wait for 100 Continue"),
        "dialer_fallback_delay": .note("addresses are tried in order, within 'connect_timeout'"),
        "dialer_keep_alive": .note("'keepalive' limits idle connections"),
        "plugin": .note("plugins are not supported"),
        "async_agent": .warning("message queues are not supported"),
    ]

    /// `router` of `extra_config`.
    static let router: KrakenDTable = [
        "forwarded_by_client_ip remote_ip_headers trusted_proxies use_h2c": .converted,
        "max_payload": .written("defaults.max_body", YAMLTree.bytes),
        "disable_access_log": .written("log.access") {
            $0.flag == true ? .plain("false") : nil
        },
        "return_error_msg": .note("'failures' lists kinds of failures; 'relay_body' relays a body"),
        "error_body": .warning("errors are RFC 9457 problems"),
        "health_path disable_health": .note("the admin address has /livez and /readyz"),
        "hide_version_header": .note("there is no such header"),
        "auto_options": .warning(
            "OPTIONS needs a route of its own; preflights of 'cors' need none"),
        "disable_redirect_trailing_slash disable_redirect_fixed_path": .note(
            "no path is redirected"),
        "remove_extra_slash": .warning("paths match exactly"),
        "disable_path_decoding": .note("paths match by their encoded segments"),
        "disable_handle_method_not_allowed": .note("a wrong method gets a 405 with 'Allow'"),
        "logger_skip_paths": .note("the access log is on or off ('log: { access: false }')"),
        "max_multipart_memory": .note("bodies are buffered up to 'max_body'"),
    ]

    /// `telemetry/logging`; only its level has an equivalent.
    static let logging: KrakenDTable = [
        "level": .written("log.level") { node in
            let levels = [
                "DEBUG": "debug", "INFO": "info", "WARNING": "warning", "ERROR": "error",
                "CRITICAL": "error",
            ]
            return node.text.flatMap { levels[$0.uppercased()] }.map(YAMLTree.text)
        }
    ]

    static let cors: KrakenDTable = [
        "allow_origins allow_headers expose_headers allow_credentials allow_methods": .converted,
        "max_age": .written("cors.max_age", YAMLTree.duration),
        "debug": .note("'tributary explain' shows the response to a preflight"),
        "options_passthrough": .warning("a route for OPTIONS takes precedence over a preflight"),
        "options_success_status": .note("a preflight gets a 204"),
        "allow_private_network": .warning("requests to private networks get no permission"),
    ]

    static let securityHeaders: KrakenDTable = [
        "allowed_hosts allowed_hosts_are_regex content_type_nosniff frame_deny": .converted,
        "custom_frame_options_value": .converted,
        "content_security_policy": .written("headers.Content-Security-Policy", YAMLTree.name),
        "referrer_policy": .written("headers.Referrer-Policy", YAMLTree.name),
        "sts_seconds sts_include_subdomains": .converted,
        "ssl_redirect": .warning("add a listener with 'redirect: https'"),
        "ssl_host": .warning("'redirect' keeps the host of the request"),
        "ssl_proxy_headers": .note("requests are not redirected"),
        "host_proxy_headers": .warning("'hosts' is compared with 'Host' only"),
        "browser_xss_filter": .note("browsers have removed the filter"),
        "hpkp_public_key": .note("browsers have removed public key pinning"),
        "is_development": .warning("all checks apply always"),
    ]

    static let botDetector: KrakenDTable = [
        "deny patterns empty_user_agent_is_bot": .converted,
        "allow": .warning("a pattern of 'deny' has no exceptions"),
        "cache_size": .note("patterns are matched in linear time"),
    ]

    static let rateLimit: KrakenDTable = [
        "max_rate maxRate client_max_rate clientMaxRate capacity client_capacity": .converted,
        "every strategy key": .converted,
        "cleanup_period cleanup_threads num_shards": .note("buckets that are full need no room"),
    ]

    /// `tls` of the service.
    static let listenTLS: KrakenDTable = [
        "public_key private_key keys enable_mtls ca_certs disable_system_ca_pool": .converted,
        "disabled": .converted,
        "min_version": .checked {
            ["TLS12", "TLS13"].contains($0.text)
                ? nil : "'min_version' becomes 1.2, the oldest version that is supported"
        },
        "max_version": .checked {
            $0.text == "TLS13" ? nil : "'max_version' is left out: TLS 1.3 is always possible"
        },
        "cipher_suites curve_preferences prefer_server_cipher_suites": .note(
            "'policy' determines ciphers and groups"),
    ]

    static let clientTLS: KrakenDTable = [
        "allow_insecure_connections ca_certs client_certs disable_system_ca_pool": .converted,
        "min_version max_version": .note("connections use TLS 1.2 or 1.3"),
        "cipher_suites curve_preferences": .note("OpenSSL negotiates it with the backend"),
    ]

    // MARK: Access

    /// `auth/api-keys` of the service.
    static let keys: KrakenDTable =
        ["keys hash salt identifier strategy": .converted]
        + lossesOfKeys

    static let keysOfEndpoint: KrakenDTable =
        [
            "roles": .converted,
            "identifier strategy": .warning("the header of the service applies"),
        ] + lossesOfKeys

    private static let lossesOfKeys: KrakenDTable = [
        "client_max_rate": .warning(
            "write a rate limit with 'key: \"{request.caller}\"', and list it on the endpoints"),
        "propagate_role": .warning("'{request.caller}' sends the name of the caller, not its role"),
    ]

    static let validator: KrakenDTable = [
        "alg jwk_url jwk_local_path issuer audience roles roles_key": .converted,
        "roles_key_is_nested scopes scopes_key scopes_matcher cookie_key": .converted,
        "auth_header_name cache cache_duration propagate_claims": .converted,
        "key_identify_strategy disable_jwk_security": .converted,
        "leeway": .checked { node in
            let isLonger = (node.goDuration ?? .zero) > KrakenDValidator.longestLeeway
            return isLonger ? "'leeway' is 5m, the longest" : nil
        },
        "operation_debug": .note("the access log has the cause of each refusal"),
        "failed_jwk_key_cooldown": .note("'unknown_kid' of 'keys' bounds the fetches"),
        "cipher_suites": .note("the cipher suites of TLS 1.2 and 1.3 cannot be configured"),
        "jwk_fingerprints": .refused(
            "has no equivalent: certificates are verified with trusted CAs"),
        "jwk_local_ca": .refused(
            "has no equivalent for 'jwk_url'; 'keys: { from }' names a backend with 'tls: { ca }'"),
        "secret_url cypher_key": .refused(
            "has no equivalent: the file of the keys must not be encrypted"),
    ]

    // MARK: Endpoints

    static let endpoint: KrakenDTable = [
        "endpoint method timeout cache_ttl backend input_headers": .converted,
        "input_query_strings concurrent_calls output_encoding extra_config": .converted,
    ]

    /// `proxy` of an endpoint.
    static let proxy: KrakenDTable =
        [
            "sequential static sequential_propagated_params": .converted
        ] + proxyOfBackend

    static let proxyOfBackend: KrakenDTable = [
        "flatmap_filter shadow": .converted,
        "combiner": .warning("each response has its own key, or is merged with 'at: .'"),
        "decompress_gzip": .note("calls request uncompressed responses"),
    ]

    /// `websocket` with `enable_direct_communication`, whose bytes pass unchanged.
    static let websocket: KrakenDTable = [
        "enable_direct_communication input_headers": .converted,
        "max_message_size": .warning(
            "messages of any size pass; 'max_duration' bounds a connection"),
        "connect_event disconnect_event": .warning("the backend gets the bytes of clients only"),
        "subprotocols": .note("client and backend negotiate them"),
        "timeout": .note("'idle_timeout' limits the time in which no byte passes"),
        "read_buffer_size write_buffer_size message_buffer_size": .note(
            "buffers are bounded by 'buffered_bytes'"),
        "ping_period pong_wait write_wait": .note("client and backend exchange pings themselves"),
        "max_retries backoff_strategy": .note("each client has a connection of its own"),
        "return_error_details": .note("clients get the backend's response"),
        "disable_otel_metrics": .note("the admin address has /metrics"),
    ]

    // MARK: Backends

    static let backend: KrakenDTable = [
        "host url_pattern method encoding group target allow deny mapping": .converted,
        "is_collection disable_host_sanitize input_headers input_query_strings": .converted,
        "extra_config": .converted,
        "sd": .checked { node in
            node.text == "static"
                ? nil
                : "'sd: \(node.text ?? "")' is left out: host names are resolved to addresses (A and"
                    + " AAAA), cached for 'dns_ttl'"
        },
        "sd_scheme": .warning("the scheme is a part of the host's URL"),
        "timeout concurrent_calls": .note("KrakenD ignores it on a backend"),
    ]

    /// `backend/http`.
    static let errors: KrakenDTable = [
        "return_error_code": .converted,
        "return_error_details": .warning(
            "a failure is reported by its kind, with 'report: body' in '_gateway'"),
        "return_error_msg": .note("'relay_body: true' relays the body of a relayed status"),
    ]

    /// `backend/http/client`.
    static let client: KrakenDTable = [
        "client_tls": .converted,
        "send_body_on_redirect": .note("redirects are not followed"),
        "no_redirect": .note("redirects are never followed"),
        "proxy_address": .warning("calls do not use a proxy"),
    ]
}
