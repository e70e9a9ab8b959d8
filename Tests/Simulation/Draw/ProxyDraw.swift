import Rehearsal

/// Draws endpoints with `proxy` and their backends, beside the endpoints with calls of the same
/// configuration.
struct ProxyDraw {
    let random: RandomSource
    let generation: Int

    /// - Parameter former: those that a reload replaces; hosts and routes stay the same
    func backends(after former: [DrawnStreamBackend]? = nil) -> [DrawnStreamBackend] {
        (0..<(former?.count ?? random.pick([1, 1, 2]))).map { index in
            let random = random.derived("backend", index)
            let ports = former?[index].ports ?? ports(index, random)
            let maxConcurrent = random.maybe(0.35, random.number(1...4))
            return DrawnStreamBackend(
                name: "s\(index)", ports: ports,
                prefix: former?[index].prefix ?? (random.chance(0.2) ? "/api" : ""),
                connectTimeout: random.pick([60, 150, 1000]), maxConcurrent: maxConcurrent,
                queue: maxConcurrent == nil
                    ? nil
                    : random.maybe(0.6, (size: random.number(1...5), wait: random.number(5...400))),
                breaker: random.maybe(0.25, breaker(random)),
                keepalive: random.maybe(
                    0.3, (maxIdle: random.number(0...3), idleTimeout: random.number(5...300))),
                refusedShare: former?[index].refusedShare
                    ?? (random.chance(0.2) ? random.pick([0.2, 0.5, 1]) : 0))
        }
    }

    private func ports(_ index: Int, _ random: RandomSource) -> [UInt16] {
        (0..<random.pick([1, 1, 2])).map { UInt16(7800 + 10 * index + $0) }
    }

    private func breaker(_ random: RandomSource) -> DrawnBreaker {
        DrawnBreaker(
            openAtPercent: random.pick([50, 100]), minRequests: random.number(1...4),
            window: random.pick([1000, 10_000]), tryAgainAfter: random.number(20...500))
    }

    // MARK: Endpoints

    /// The endpoints, numbered behind those with calls.
    func endpoints(
        behind count: Int, backends: Int, after former: [DrawnEndpoint]? = nil
    ) -> [DrawnEndpoint] {
        (0..<(former?.count ?? random.number(1...3))).map { place in
            let index = count + place
            var endpoint = endpoint(index, former?[place])
            endpoint.proxy = proxy(index, backends: backends, former?[place].proxy)
            return endpoint
        }
    }

    private func endpoint(_ index: Int, _ former: DrawnEndpoint?) -> DrawnEndpoint {
        let random = random.derived("endpoint", index)
        return DrawnEndpoint(
            index: index,
            method: former?.method
                ?? random.pick([DrawnEndpoint.anyMethod, DrawnEndpoint.anyMethod, "GET", "POST"]),
            params: [], body: nil,
            forwardHeaders: random.maybe(0.15, ["X-User"]) ?? [],
            deadline: 0, timeout: 0, exposesDetails: false, serverTiming: false,
            maxInFlight: random.maybe(0.15, random.number(1...4)), maxBody: 0,
            entry: EntryDraw(random: self.random.derived("entry")).endpoint(index), calls: [])
    }

    private func proxy(_ index: Int, backends: Int, _ former: DrawnProxy?) -> DrawnProxy {
        let random = random.derived("proxy", index)
        let hasRest = former?.hasRest ?? random.chance(0.7)
        var proxy = DrawnProxy(
            backend: random.number(0...backends - 1), hasRest: hasRest,
            path: random.maybe(
                0.5, random.pick(hasRest ? ["/v\(index)/*", "/fixed"] : ["/fixed"])),
            timeout: random.number(60...1500), idleTimeout: random.number(40...900),
            maxDuration: random.maybe(0.25, random.number(100...2500)),
            maxBody: random.maybe(0.25, random.pick([100, 5000, 100_000])),
            host: random.maybe(0.4, random.pick(["client", "inner.test"])),
            forwarded: random.maybe(0.6, random.pick([.x, .rfc7239, .both, .off])),
            passesCredential: random.chance(0.2))
        proxy.interim = random.derived("interim").pick([nil, "all", "all", "off", "http2"])
        // Longer than a client waits that expects `100 Continue` and gets no decision of the host.
        let patience = random.derived("patience")
        if patience.chance(0.2) { proxy.idleTimeout = patience.number(1_100...2_500) }
        proxy.headers = random.maybe(0.4, [("X-Set", "by g\(generation)e\(index)")]) ?? []
        proxy.dropHeaders = random.maybe(0.4, ["X-Dropped"]) ?? []
        proxy.retry = random.maybe(0.5, retry(random))
        proxy.upgrades = random.derived("upgrade").chance(0.4)
        let folder = random.derived("folder")
        proxy.hasProtectedFolder = former?.hasProtectedFolder ?? (hasRest && folder.chance(0.25))
        proxy.paths = folder.maybe(0.15, folder.pick([.strict, .lenient]))
        return proxy
    }

    private func retry(_ random: RandomSource) -> DrawnRetry {
        DrawnRetry(
            attempts: random.number(2...3),
            on: random.maybe(
                0.5, random.pick([["connect"], ["terminated", "503"], ["connect", "500", "503"]])),
            backoff: random.number(0...20))
    }
}
