import YAMLReader

/// The keys of a backend and of its blocks.
extension Config.Backend: NamedBlock {
    static let noun = "backend"

    static func problem(withName name: String) -> String? {
        Config.Param.isName(name)
            ? nil : "bad name '\(name)' of a backend; names consist of letters, digits, _ and -"
    }

    static let alternatives = [["url", "urls"]]

    static let keys: [BlockKey<Config.Backend>] = coreKeys + Features.keys(\.backend)

    private static let coreKeys: [BlockKey<Config.Backend>] = [
        .value(
            "url", \.url, .backendURL,
            "URL of the only host, e.g. http://host:port; its path is put before every call's path"
        ),
        .value("urls", \.urls, .filledList(of: .backendURL), "URLs of the hosts"),
        .list("headers", \.headers, .fixedHeaders, "header fields that every call sends"),
        .value(
            "forwarded", \.forwarded, .choice,
            default: .choice(PlanDefaults.forwarded),
            "headers that send the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
        .value(
            "connect_timeout", \.connectTimeout, .duration,
            default: .key("defaults.connect_timeout"),
            "time limit for opening a connection, TLS included"),
        .value(
            "balance", \.balance, .choice, default: .choice(PlanDefaults.balance),
            "load balancing: how the host of a call is chosen"),
        .block("keepalive", \.keepalive, "idle connections that are kept for later calls"),
        .value(
            "dns_ttl", \.dnsTTL, .duration(allowsZero: true), default: .time(PlanDefaults.dnsTTL),
            "how long DNS results are cached; they are refreshed before they expire"),
        .value(
            "protocol", \.protocolChoice, .choice, default: .choice(PlanDefaults.backendProtocol),
            "version of HTTP; auto: the backend chooses in the TLS handshake"),
        .block("http2", \.http2, "settings of HTTP/2 connections"),
        .block("tls", \.tls, "TLS settings of https:// hosts"),
    ]
}

extension ValueReader where Value == [Config.Header] {
    static var fixedHeaders: ValueReader {
        .headers(of: .headerValue) { name, value in
            Config.Header(name: name, value: value)
        }
    }
}

extension Config.Backend.Keepalive: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "max_idle", \.maxIdle, .natural, default: .number(PlanDefaults.maxIdle),
            "maximum number of idle connections per host; 0 keeps none"),
        .value(
            "idle_timeout", \.idleTimeout, .duration, default: .time(PlanDefaults.poolIdleTimeout),
            "how long an idle connection is kept"),
        .value(
            "max_age", \.maxAge, .duration, default: .time(PlanDefaults.poolMaxAge),
            "how long a connection gets calls; it ends with its last one"),
    ]
}

extension Config.Backend.HTTP2: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "max_streams", \.maxStreams, .positive,
            default: .number(PlanDefaults.backendStreams),
            "maximum number of calls in progress on a connection, unless the backend allows fewer"),
        .value(
            "max_connections", \.maxConnections, .positive,
            default: .number(PlanDefaults.backendConnections),
            "maximum number of connections per host and worker; further calls wait"),
        .value(
            "ping_after", \.pingAfter, .duration, default: .time(PlanDefaults.pingAfter),
            "silence of a connection with calls in progress after which it is tested"),
        .value(
            "ping_timeout", \.pingTimeout, .duration, default: .time(PlanDefaults.pingTimeout),
            "time limit for the answer to that test; then the connection is closed"),
    ]
}

extension Config.Backend.TLS: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "ca", \.ca, .file, default: .description("the system's CAs"),
            "file with the trusted CA certificates"),
        .value("cert", \.cert, .file, "file with the client certificate"),
        .value("key", \.key, .file, "file with the private key of `cert`"),
        .value(
            "server_name", \.serverName, .host, default: .description("the host of the URL"),
            "server name that is sent (SNI) and verified"),
        .value(
            "verify", \.verify, .flag, default: .flag(true),
            "whether the backend's certificate is verified"),
    ]
}
