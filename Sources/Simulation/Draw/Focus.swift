import Rehearsal

/// A run that concentrates on one behaviour, because random runs hardly ever reach it: everything that
/// could hide the behaviour from its checker is left out.
enum Focus {
    /// A host that fails for good is ejected again and again, for longer each time, while clients keep
    /// sending requests.
    case ejections

    init?(_ dice: RandomSource) {
        guard dice.chance(0.04) else { return nil }
        self = .ejections
    }

    /// The faults that may still happen.
    func limit(_ rates: FaultRates) -> FaultRates {
        rates.limited(to: [.splitReads, .smallWindows, .bursts, .oddAnswers])
    }

    func adjust(_ config: inout DrawnConfig, _ dice: RandomSource) {
        config.limits = DrawnLimits()
        for index in config.backends.indices { adjust(&config.backends[index], index, dice) }
        for index in config.endpoints.indices { adjust(&config.endpoints[index], dice) }
    }

    /// At least two hosts, of which the last one is ill (see `outage`).
    private func adjust(_ backend: inout DrawnBackend, _ index: Int, _ dice: RandomSource) {
        let dice = dice.dice("backend", index)
        if backend.hosts.count < 2 {
            backend.hosts.append(
                DrawnHost(host: "127.0.0.1", port: UInt16(7000 + 10 * index + 1), prefix: ""))
        }
        backend.eject = (after: dice.number(1...2), duration: dice.number(20...60))
        backend.isRoundRobin = dice.maybe(0.5, true)
        backend.connectTimeout = 1000
        (backend.maxConcurrent, backend.queue) = (nil, nil)
        backend.tls = nil
        (backend.breaker, backend.health, backend.dnsTTL) = (nil, nil, nil)
    }

    /// No call is slow, and all may be resent: every failure is known outside of the gateway.
    private func adjust(_ endpoint: inout DrawnEndpoint, _ dice: RandomSource) {
        (endpoint.deadline, endpoint.timeout) = (5000, 5000)
        (endpoint.minDuration, endpoint.roundUpTo, endpoint.maxInFlight) = (nil, nil, nil)
        for index in endpoint.calls.indices {
            let call = endpoint.calls[index]
            endpoint.calls[index].timeout = nil
            endpoint.calls[index].hedgeAfter = nil
            if !call.isIdempotent { endpoint.calls[index].method = "PUT" }
        }
    }

    /// The last host of each backend fails for good.
    func outages(_ config: DrawnConfig) -> [HostOutages.Spell] {
        config.backends.compactMap(\.hosts.last).map {
            HostOutages.Spell(kind: .ill, host: $0, from: 0, to: 100_000)
        }
    }

    /// Connections that send requests one after the other for a second or two.
    func connections(
        _ dice: RandomSource, _ rates: FaultRates, _ config: DrawnConfig
    ) -> [ScriptedConnection] {
        var number = 0
        return (0..<dice.number(2...4)).map { index in
            let dice = dice.dice("focus", index)
            let requests = (0..<dice.number(15...30)).map { place in
                defer { number += 1 }
                var request = RequestDraw(
                    dice: dice.dice("request", place), rates: rates, config: config
                ).request(number, isFirst: place == 0)
                request.pause = dice.number(5...60)
                return request
            }
            return ScriptedConnection(
                number: index, start: dice.number(0...50_000), requests: requests, leaves: true)
        }
    }
}
