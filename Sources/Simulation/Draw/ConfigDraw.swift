import Rehearsal

/// Draws configurations: every option has its chance, and every configuration is one that `check` lets
/// through.
struct ConfigDraw {
    let dice: RandomSource
    let generation: Int

    /// - Parameter former: what a reload takes the place of: the process and the routes stay
    func config(after former: DrawnConfig? = nil) -> DrawnConfig {
        let backends = (0..<(former?.backends.count ?? dice.number(1...3))).map { index in
            backend(index, former?.backends[index])
        }
        let endpoints = (0..<(former?.endpoints.count ?? dice.number(1...3))).map { index in
            endpoint(index, former?.endpoints[index], backends: backends.count)
        }
        return DrawnConfig(
            generation: generation,
            workers: former?.workers ?? dice.pick([1, 1, 2, 3]),
            listensOnUnixSocket: former?.listensOnUnixSocket ?? dice.dice("listen").chance(0.15),
            limits: limits(), drainTimeout: dice.pick([40, 200, 5000]),
            backends: backends, endpoints: endpoints)
    }

    // MARK: The process

    private func limits() -> DrawnLimits {
        let dice = dice.dice("limits")
        var limits = DrawnLimits()
        limits.connections = dice.maybe(0.15, dice.number(1...6))
        limits.requestsInFlight = dice.maybe(0.15, dice.number(1...6))
        limits.headerBytes = dice.maybe(0.1, 1024)
        limits.headerCount = dice.maybe(0.1, 12)
        limits.uriBytes = dice.maybe(0.1, 256)
        limits.headerTimeout = dice.maybe(0.3, dice.number(50...400))
        limits.bodyTimeout = dice.maybe(0.3, dice.number(50...400))
        limits.idleTimeout = dice.maybe(0.3, dice.number(20...500))
        limits.bufferedBytes = dice.maybe(0.1, dice.pick([1000, 4000, 20_000, 200_000]))
        limits.connectionsPerClient = dice.maybe(0.1, dice.number(1...6))
        limits.writeTimeout = dice.maybe(0.1, dice.number(100...2000))
        return limits
    }

    // MARK: Backends

    private func backend(_ index: Int, _ former: DrawnBackend?) -> DrawnBackend {
        let dice = dice.dice("backend", index)
        let maxConcurrent = dice.maybe(0.35, dice.number(1...4))
        let hosts = former?.hosts ?? hosts(index, dice)
        return DrawnBackend(
            name: "b\(index)", hosts: hosts,
            header: dice.maybe(0.3, "key \(generation)"),
            connectTimeout: dice.pick([30, 60, 150, 1000]),
            maxConcurrent: maxConcurrent,
            queue: maxConcurrent == nil
                ? nil : dice.maybe(0.6, (size: dice.number(1...5), wait: dice.number(5...120))),
            breaker: dice.maybe(0.3, breaker(dice)),
            isRoundRobin: hosts.count > 1 ? dice.maybe(0.5, dice.chance(0.5)) : nil,
            keepalive: dice.maybe(
                0.3, (maxIdle: dice.number(0...3), idleTimeout: dice.number(5...300))),
            dnsTTL: dice.maybe(0.4, dice.number(0...200)),
            eject: hosts.count > 1
                ? dice.maybe(0.6, (after: dice.number(1...4), duration: dice.number(20...400)))
                : nil,
            health: dice.maybe(
                0.3, DrawnHealth(generation: generation, every: dice.pick([40, 40, 100, 300]))),
            tls: tls(dice.dice("tls"), former))
    }

    /// A reload may change what is demanded of the hosts, and they speak TLS before and after it.
    private func tls(_ dice: RandomSource, _ former: DrawnBackend?) -> DrawnTLS? {
        if let former, former.tls == nil { return nil }
        guard former != nil || dice.chance(0.3) else { return nil }
        return DrawnTLS(
            verifies: dice.chance(0.5), serverName: dice.maybe(0.3, DrawnTLS.alias))
    }

    private func hosts(_ index: Int, _ dice: RandomSource) -> [DrawnHost] {
        (0..<dice.pick([1, 1, 2, 3])).map { host in
            let port = UInt16(7000 + 10 * index + host)
            return DrawnHost(
                host: dice.chance(0.3) ? "h\(host)b\(index).test" : "127.0.0.1", port: port,
                prefix: dice.chance(0.15) ? "/api/v1" : "")
        }
    }

    private func breaker(_ dice: RandomSource) -> DrawnBreaker {
        DrawnBreaker(
            openAtPercent: dice.pick([10, 50, 100]), minRequests: dice.number(1...5),
            window: dice.pick([200, 1000, 10_000]), tryAgainAfter: dice.number(20...500))
    }

    // MARK: Endpoints

    private func endpoint(
        _ index: Int, _ former: DrawnEndpoint?, backends: Int
    ) -> DrawnEndpoint {
        let dice = dice.dice("endpoint", index)
        let method = former?.method ?? dice.pick(["GET", "GET", "GET", "POST", "PUT", "DELETE"])
        let hasID = former?.hasID ?? dice.chance(0.6)
        let params = params(dice, hasID: hasID)
        let body =
            method == "POST" || method == "PUT"
            ? dice.maybe(0.6, DrawnBody(max: dice.maybe(0.4, dice.pick([20, 100, 100])))) : nil
        let minDuration = dice.maybe(0.2, dice.number(20...300))
        let calls = CallDraw(
            dice: dice, method: method, params: params, hasBody: body != nil, backends: backends
        ).calls()
        let anyRequired = calls.contains(where: \.isRequired)
        return DrawnEndpoint(
            index: index, method: method, params: params, body: body,
            forwardHeaders: dice.maybe(0.3, ["X-User"]) ?? [],
            forwardQuery: dice.maybe(0.3, ["debug"]) ?? [],
            forwardsAllQuery: dice.dice("query").chance(0.2),
            deadline: dice.number(60...800), timeout: dice.number(20...400),
            minDuration: minDuration,
            roundUpTo: minDuration == nil ? nil : dice.maybe(0.5, dice.number(20...100)),
            succeedWhen: dice.maybe(
                0.4, dice.pick(anyRequired ? [.any, .all, .required] : [.any, .all])),
            report: dice.maybe(0.4, dice.pick([.body, .header, .off])),
            exposesDetails: dice.chance(0.2), partialStatus: dice.maybe(0.2, 207),
            cacheControl: dice.maybe(0.2, "max-age=60"),
            serverTiming: minDuration == nil && dice.chance(0.2),
            maxInFlight: dice.maybe(0.15, dice.number(1...4)),
            maxBody: dice.pick([1024, 2048, 65536]), calls: calls)
    }

    private func params(_ dice: RandomSource, hasID: Bool) -> [DrawnParam] {
        var params: [DrawnParam] = []
        if hasID {
            let isInteger = dice.chance(0.5)
            params.append(DrawnParam(name: "id", isDeclared: isInteger, isInteger: isInteger))
        }
        if dice.chance(0.5) {
            params.append(
                DrawnParam(name: "lang", oneOf: ["en", "de"], fallback: dice.maybe(0.5, "en")))
        }
        if dice.chance(0.3) {
            params.append(DrawnParam(name: "q", isRequired: dice.chance(0.5), maxLength: 8))
        }
        if dice.chance(0.2) {
            params.append(
                DrawnParam(name: "X-Tenant", isRequired: dice.chance(0.3), isHeader: true))
        }
        return params
    }
}
