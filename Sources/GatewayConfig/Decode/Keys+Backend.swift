import YAMLReader

extension Config.Backend: NamedBlock {
    static let word = "backend"

    static func problem(withName name: String) -> String? {
        Config.Param.isName(name)
            ? nil : "bad name '\(name)' of a backend; it may have letters, digits, _ and -"
    }

    static let alternatives = [["url", "urls"]]

    static let keys: [BlockKey<Config.Backend>] = [
        .value(
            "url", \.url, .backendURL,
            "its only host: http://host:port or https://host, and a path before all"),
        .value("urls", \.urls, .filledList(of: .backendURL), "its hosts"),
        .list("headers", \.headers, .fixedHeaders, "sent with every call"),
        .value(
            "forwarded", \.forwarded, .choice,
            default: .choice(PlanDefaults.forwarded),
            "sends the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
        .value(
            "connect_timeout", \.connectTimeout, .duration,
            default: .key("defaults.connect_timeout"),
            "limit on connecting"),
        .value("max_concurrent", \.maxConcurrent, .positive, "calls at the same time"),
        .block("queue", \.queue, "where calls wait when max_concurrent is reached"),
        .block("breaker", \.breaker, "stops asking a backend that keeps failing"),
        .value(
            "balance", \.balance, .choice, default: .choice(PlanDefaults.balance),
            "how one of several hosts is chosen"),
        .block("eject", \.eject, "leaves a failing host of several alone for a while"),
        .block("health", \.health, "asks the hosts how they are"),
        .block("keepalive", \.keepalive, "connections that are kept for the next call"),
        .value(
            "dns_ttl", \.dnsTTL, .duration(allowsZero: true), default: .time(PlanDefaults.dnsTTL),
            "how long DNS results are cached; they are refreshed before that"),
        .block("tls", \.tls, "how https:// is spoken"),
    ]
}

extension Reading where Value == [Config.Header] {
    static var fixedHeaders: Reading {
        .headers(of: .headerValue) { name, value in
            Config.Header(name: name, value: value)
        }
    }
}

extension Config.Backend.Queue: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("size", \.size, .positive, isRequired: true, "calls that may wait"),
        .value(
            "wait", \.wait, .duration, default: .time(PlanDefaults.queueWait),
            "how long a call waits at most"),
    ]
}

extension Config.Backend.Breaker: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "open_at", \.openAt, .share,
            default: .text("\(Int(PlanDefaults.breakerOpenAt * 100))%"),
            "the share of failures at which it opens"),
        .value(
            "min_requests", \.minRequests, .positive,
            default: .number(PlanDefaults.breakerRequestsMin),
            "fewer calls in the window never open it"),
        .value(
            "window", \.window, .duration, default: .time(PlanDefaults.breakerWindow),
            "the time that is looked back on"),
        .value(
            "try_again_after", \.tryAgainAfter, .duration,
            default: .time(PlanDefaults.breakerTryAgainAfter), "until one probe is let through"),
    ]
}

extension Config.Backend.Eject: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "after", \.after, .positive, default: .number(PlanDefaults.ejectAfter),
            "failures in a row"),
        .value(
            "for", \.duration, .duration, default: .time(PlanDefaults.ejectFor),
            "how long at first; longer each time"),
    ]
}

extension Config.Backend.Health: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("path", \.path, .urlPath, isRequired: true, "what is asked for"),
        .value(
            "every", \.every, .duration, default: .time(PlanDefaults.healthEvery), "how often"),
    ]
}

extension Config.Backend.Keepalive: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "max_idle", \.maxIdle, .natural, default: .number(PlanDefaults.maxIdle),
            "most idle connections that are kept; 0 keeps none"),
        .value(
            "idle_timeout", \.idleTimeout, .duration, default: .time(PlanDefaults.poolIdleTimeout),
            "how long an idle one is kept"),
    ]
}

extension Config.Backend.TLS: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "ca", \.ca, .file, default: .words("those of the system"),
            "file of the certificates that are trusted"),
        .value("cert", \.cert, .file, "file of the certificate that is shown"),
        .value("key", \.key, .file, "file of its key"),
        .value(
            "server_name", \.serverName, .host, default: .words("the host of the URL"),
            "the name that is asked for and checked"),
        .value(
            "verify", \.verify, .flag, default: .flag(true),
            "whether the backend's certificate is checked"),
    ]
}
