import Rehearsal

/// Draws configurations that `tributary check` accepts; every option has a probability.
struct ConfigDraw {
    let random: RandomSource
    let generation: Int
    /// It has endpoints with `proxy`.
    var hasStreams = false
    /// Its listener, and most of its backends, have HTTP/2.
    var hasHTTP2 = false

    /// - Parameter former: the configuration that a reload replaces; process and routes stay the same
    func config(after former: DrawnConfig? = nil) -> DrawnConfig {
        let backends = (0..<(former?.backends.count ?? random.number(1...3))).map { index in
            backend(index, former?.backends[index])
        }
        let listeners =
            hasStreams
            ? former?.listeners ?? ListenerDraw(random: random.derived("listeners")).listeners()
            : []
        let authDraw = AuthDraw(random: random.derived("auth"))
        let auth = authDraw.auth(
            after: former?.auth, hasCertificates: listeners.contains(where: \.verifiesClients))
        let aggregates = former?.endpoints.filter { $0.proxy == nil }
        let drawn = (0..<(aggregates?.count ?? random.number(1...3))).map { index in
            endpoint(index, aggregates?[index], backends: backends.count)
        }
        let proxyDraw = ProxyDraw(random: random.derived("proxy"), generation: generation)
        let streamBackends =
            hasStreams ? proxyDraw.backends(after: former?.streamBackends) : []
        let relayed =
            hasStreams
            ? proxyDraw.endpoints(
                behind: drawn.count, backends: streamBackends.count,
                after: former?.endpoints.filter { $0.proxy != nil }) : []
        let endpoints = (drawn + relayed).map { endpoint in
            var endpoint = endpoint
            endpoint.auth = authDraw.endpoint(endpoint, auth)
            return endpoint
        }
        let quota = RateLimitDraw(random: random.derived("quota"))
        let rateLimits = former?.rateLimits ?? quota.limits()
        let limited = endpoints.map { endpoint in
            var endpoint = endpoint
            endpoint.limitUses = quota.uses(
                of: rateLimits, by: endpoint, former?.endpoints[endpoint.index].limitUses)
            return endpoint
        }
        return DrawnConfig(
            generation: generation,
            workers: former?.workers ?? random.pick([1, 1, 2, 3]),
            listensOnUnixSocket: former?.listensOnUnixSocket
                ?? random.derived("listen").chance(0.15),
            acceptsHTTP2: hasHTTP2, listeners: listeners, limits: limits(),
            entry: EntryDraw(random: random.derived("entry")).entry(),
            rateLimits: rateLimits,
            auth: auth, authFailures: former?.authFailures ?? authDraw.failures(),
            drainTimeout: random.pick([40, 200, 5000]),
            backends: backends, streamBackends: streamBackends, endpoints: limited)
    }

    // MARK: The process

    private func limits() -> DrawnLimits {
        let random = random.derived("limits")
        var limits = DrawnLimits()
        limits.connections = random.maybe(0.15, random.number(1...6))
        limits.requestsInFlight = random.maybe(0.15, random.number(1...6))
        limits.headerBytes = random.maybe(0.1, 1024)
        limits.headerCount = random.maybe(0.1, 12)
        limits.uriBytes = random.maybe(0.1, 256)
        limits.headerTimeout = random.maybe(0.3, random.number(50...400))
        limits.bodyTimeout = random.maybe(0.3, random.number(50...400))
        limits.idleTimeout = random.maybe(0.3, random.number(20...500))
        limits.bufferedBytes = random.maybe(0.1, random.pick([1000, 4000, 20_000, 200_000]))
        limits.connectionsPerClient = random.maybe(0.1, random.number(1...6))
        limits.writeTimeout = random.maybe(0.1, random.number(100...2000))
        if hasStreams {
            limits.streams = random.derived("streams").maybe(0.15, random.number(1...3))
        }
        if hasHTTP2 {
            limits.streamsPerConnection = random.derived("http2").maybe(0.15, random.number(1...4))
        }
        return limits
    }

    // MARK: Backends

    private func backend(_ index: Int, _ former: DrawnBackend?) -> DrawnBackend {
        let random = random.derived("backend", index)
        let maxConcurrent = random.maybe(0.35, random.number(1...4))
        let hosts = former?.hosts ?? hosts(index, random)
        return DrawnBackend(
            name: "b\(index)", hosts: hosts,
            header: random.maybe(0.3, "key \(generation)"),
            connectTimeout: random.pick([30, 60, 150, 1000]),
            maxConcurrent: maxConcurrent,
            queue: maxConcurrent == nil
                ? nil
                : random.maybe(0.6, (size: random.number(1...5), wait: random.number(5...120))),
            breaker: random.maybe(0.3, breaker(random)),
            isRoundRobin: hosts.count > 1 ? random.maybe(0.5, random.chance(0.5)) : nil,
            keepalive: random.maybe(
                0.3, (maxIdle: random.number(0...3), idleTimeout: random.number(5...300))),
            dnsTTL: random.maybe(0.4, random.number(0...200)),
            eject: hosts.count > 1
                ? random.maybe(
                    0.6, (after: random.number(1...4), duration: random.number(20...400)))
                : nil,
            health: random.maybe(
                0.3, DrawnHealth(generation: generation, every: random.pick([40, 40, 100, 300]))),
            tls: tls(random.derived("tls"), former), http2: http2(random.derived("http2"), former))
    }

    /// A reload may change the settings, but not the protocol of the hosts.
    private func http2(_ random: RandomSource, _ former: DrawnBackend?) -> DrawnHTTP2? {
        let isUsed = former.map { $0.http2 != nil } ?? (hasHTTP2 && random.chance(0.75))
        return isUsed ? DrawnHTTP2(random) : nil
    }

    /// A reload may change the verification, but not whether the hosts use TLS.
    private func tls(_ random: RandomSource, _ former: DrawnBackend?) -> DrawnTLS? {
        if let former, former.tls == nil { return nil }
        guard former != nil || random.chance(0.3) else { return nil }
        return DrawnTLS(
            verifies: random.chance(0.5), serverName: random.maybe(0.3, DrawnTLS.alias))
    }

    private func hosts(_ index: Int, _ random: RandomSource) -> [DrawnHost] {
        (0..<random.pick([1, 1, 2, 3])).map { host in
            let port = UInt16(7000 + 10 * index + host)
            return DrawnHost(
                host: random.chance(0.3) ? "h\(host)b\(index).test" : "127.0.0.1", port: port,
                prefix: random.chance(0.15) ? "/api/v1" : "")
        }
    }

    private func breaker(_ random: RandomSource) -> DrawnBreaker {
        DrawnBreaker(
            openAtPercent: random.pick([10, 50, 100]), minRequests: random.number(1...5),
            window: random.pick([200, 1000, 10_000]), tryAgainAfter: random.number(20...500))
    }

    // MARK: Endpoints

    private func endpoint(
        _ index: Int, _ former: DrawnEndpoint?, backends: Int
    ) -> DrawnEndpoint {
        let random = random.derived("endpoint", index)
        let method = former?.method ?? random.pick(["GET", "GET", "GET", "POST", "PUT", "DELETE"])
        let hasID = former?.hasID ?? random.chance(0.6)
        let params = params(random, hasID: hasID)
        let body =
            method == "POST" || method == "PUT"
            ? random.maybe(0.6, DrawnBody(max: random.maybe(0.4, random.pick([20, 100, 100]))))
            : nil
        let minDuration = random.maybe(0.2, random.number(20...300))
        let calls = CallDraw(
            random: random, method: method, params: params, hasBody: body != nil, backends: backends
        ).calls()
        let anyRequired = calls.contains(where: \.isRequired)
        return DrawnEndpoint(
            index: index, method: method, params: params, body: body,
            forwardHeaders: random.maybe(0.3, ["X-User"]) ?? [],
            forwardQuery: random.maybe(0.3, ["debug"]) ?? [],
            forwardsAllQuery: random.derived("query").chance(0.2),
            deadline: random.number(60...800), timeout: random.number(20...400),
            minDuration: minDuration,
            roundUpTo: minDuration == nil ? nil : random.maybe(0.5, random.number(20...100)),
            succeedWhen: random.maybe(
                0.4, random.pick(anyRequired ? [.any, .all, .required] : [.any, .all])),
            report: random.maybe(0.4, random.pick([.body, .header, .off])),
            exposesDetails: random.chance(0.2), partialStatus: random.maybe(0.2, 207),
            cacheControl: random.maybe(0.2, "max-age=60"),
            serverTiming: minDuration == nil && random.chance(0.2),
            maxInFlight: random.maybe(0.15, random.number(1...4)),
            maxBody: random.pick(hasHTTP2 ? [1024, 65536, 300_000] : [1024, 2048, 65536]),
            entry: EntryDraw(random: self.random.derived("entry")).endpoint(index),
            input: InputDraw(random: self.random.derived("input"))
                .endpoint(index, hasBody: method == "POST" || method == "PUT"),
            calls: calls)
    }

    private func params(_ random: RandomSource, hasID: Bool) -> [DrawnParam] {
        var params: [DrawnParam] = []
        if hasID {
            let isInteger = random.chance(0.5)
            params.append(DrawnParam(name: "id", isDeclared: isInteger, isInteger: isInteger))
        }
        if random.chance(0.5) {
            params.append(
                DrawnParam(name: "lang", oneOf: ["en", "de"], fallback: random.maybe(0.5, "en")))
        }
        if random.chance(0.3) {
            params.append(DrawnParam(name: "q", isRequired: random.chance(0.5), maxLength: 8))
        }
        if random.chance(0.2) {
            params.append(
                DrawnParam(name: "X-Tenant", isRequired: random.chance(0.3), isHeader: true))
        }
        return params
    }
}
