/// The text of endpoints with `proxy` and of their backends.
extension ConfigText {
    mutating func write(_ backend: DrawnStreamBackend) {
        add(1, "\(backend.name):")
        let urls = backend.ports.map { "\"http://127.0.0.1:\($0)\(backend.prefix)\"" }
        add(2, "urls: \(flow(urls))")
        add(2, "connect_timeout", backend.connectTimeout, "ms")
        add(2, "max_concurrent", backend.maxConcurrent)
        if let queue = backend.queue {
            add(2, "queue: { size: \(queue.size), wait: \(queue.wait)ms }")
        }
        if let breaker = backend.breaker { add(2, "breaker: \(breaker.written)") }
        if let keepalive = backend.keepalive {
            add(
                2,
                "keepalive: { max_idle: \(keepalive.maxIdle), idle_timeout: \(keepalive.idleTimeout)ms }"
            )
        }
    }

    /// An endpoint with `proxy`, from its route to its end.
    mutating func write(
        _ endpoint: DrawnEndpoint, with proxy: DrawnProxy, _ config: DrawnConfig
    ) {
        add(1, "- route: \(endpoint.method) \(endpoint.routePath)")
        writeForward(2, endpoint.forwardHeaders, [], all: !endpoint.forwardHeaders.isEmpty)
        add(2, "max_in_flight", endpoint.maxInFlight)
        writeAdmission(of: endpoint, config)
        add(2, "paths", proxy.paths?.rawValue)
        add(2, "proxy:")
        add(3, "to: \(config.streamBackends[proxy.backend].name)")
        add(3, "path", proxy.path.map { "\"\($0)\"" })
        add(3, "timeout", proxy.timeout, "ms")
        add(3, "idle_timeout", proxy.idleTimeout, "ms")
        add(3, "max_duration", proxy.maxDuration, "ms")
        add(3, "max_body", proxy.maxBody, "B")
        add(3, "host", proxy.host)
        add(3, "forwarded", proxy.forwarded?.rawValue)
        if proxy.passesCredential, endpoint.isProtected { add(3, "credential: pass") }
        add(3, "interim", proxy.interim)
        let caller = endpoint.isProtected ? [("X-Caller", "\"{request.caller}\"")] : []
        let headers = [("X-Proxy", "g\(config.generation)e\(endpoint.index)")] + caller
        let lines = (headers + proxy.headers.map { ($0.name, $0.value) }).map { "\($0): \($1)" }
        add(3, "headers: { \(lines.joined(separator: ", ")) }")
        if !proxy.dropHeaders.isEmpty { add(3, "drop_headers: \(flow(proxy.dropHeaders))") }
        if proxy.upgrades { add(3, "upgrade: [websocket]") }
        if let retry = proxy.retry { add(3, "retry: \(retry.written)") }
        if proxy.hasProtectedFolder { writeProtectedFolder(of: endpoint, proxy, config) }
    }

    /// An endpoint that no client may use: its paths in every spelling belong to it.
    private mutating func writeProtectedFolder(
        of endpoint: DrawnEndpoint, _ proxy: DrawnProxy, _ config: DrawnConfig
    ) {
        add(1, "- route: ANY \(endpoint.path)/safe/*")
        add(2, "clients: { allow: [192.0.2.1] }")
        if config.auth != nil { add(2, "auth: none") }
        add(2, "proxy: \(config.streamBackends[proxy.backend].name)")
    }
}

extension DrawnBreaker {
    var written: String {
        "{ open_at: \(openAtPercent)%, min_requests: \(minRequests),"
            + " window: \(window)ms, try_again_after: \(tryAgainAfter)ms }"
    }
}

extension DrawnRetry {
    var written: String {
        let on = on.map { ", on: [\($0.joined(separator: ", "))]" } ?? ""
        return "{ attempts: \(attempts)\(on), backoff: \(backoff)ms }"
    }
}
