import Rehearsal

/// A run that concentrates on one behaviour which random runs rarely reach: everything that could
/// hide the behaviour from its checker is switched off.
enum Focus {
    /// A host that fails permanently is ejected again and again, for longer each time, while
    /// clients keep sending requests.
    case ejections

    init?(_ random: RandomSource) {
        guard random.chance(0.04) else { return nil }
        self = .ejections
    }

    /// The faults that may still happen.
    func limit(_ rates: FaultRates) -> FaultRates {
        rates.limited(to: [.splitReads, .smallWindows, .bursts, .oddAnswers])
    }

    func adjust(_ config: inout DrawnConfig, _ random: RandomSource) {
        config.limits = .none
        config.auth = nil
        for index in config.backends.indices { adjust(&config.backends[index], index, random) }
        for index in config.endpoints.indices { adjust(&config.endpoints[index], random) }
    }

    /// At least two hosts; the last one fails (see `outages`).
    private func adjust(_ backend: inout DrawnBackend, _ index: Int, _ random: RandomSource) {
        let random = random.derived("backend", index)
        if backend.hosts.count < 2 {
            backend.hosts.append(
                DrawnHost(host: "127.0.0.1", port: UInt16(7000 + 10 * index + 1), prefix: ""))
        }
        let eject = random.keys(
            [
                .block("eject", 1, [.key("after", 1, 1...2), .key("for", 1, 20...60)]),
                .key("balance", 0.5, of: ["round_robin"]), .key("connect_timeout", 1, [1000]),
            ], of: "Backend")
        for key in ["max_concurrent", "queue", "tls", "breaker", "health", "dns_ttl", "balance"] {
            backend.keys.set(key, nil)
        }
        for member in eject.members { backend.keys.set(member.key, member.value) }
    }

    /// No call times out, and all may be resent, so every failure is visible outside of the gateway.
    private func adjust(_ endpoint: inout DrawnEndpoint, _ random: RandomSource) {
        endpoint.auth = nil
        // They may use the caller.
        for index in endpoint.limitUses.indices { endpoint.limitUses[index].when = nil }
        for key in ["deadline", "timeout"] { endpoint.keys.set(key, .scalar("5000ms")) }
        for key in ["min_duration", "round_up_to", "max_in_flight"] { endpoint.keys.set(key, nil) }
        for index in endpoint.calls.indices {
            for key in ["timeout", "hedge"] { endpoint.calls[index].keys.set(key, nil) }
            if !endpoint.calls[index].isIdempotent { endpoint.calls[index].method = "PUT" }
        }
    }

    /// The last host of each backend fails permanently.
    func outages(_ config: DrawnConfig) -> [HostOutages.Outage] {
        config.backends.compactMap(\.hosts.last).map {
            HostOutages.Outage(kind: .failsRequests, host: $0, from: 0, to: 100_000)
        }
    }

    /// Connections that send requests one after the other for one or two seconds.
    func connections(
        _ random: RandomSource, _ rates: FaultRates, _ config: DrawnConfig
    ) -> [ScriptedConnection] {
        var number = 0
        return (0..<random.number(2...4)).map { index in
            let random = random.derived("focus", index)
            let requests = (0..<random.number(15...30)).map { place in
                defer { number += 1 }
                var request = RequestDraw(
                    random: random.derived("request", place), rates: rates, config: config
                ).request(number, isFirst: place == 0)
                request.pause = random.number(5...60)
                return request
            }
            return ScriptedConnection(
                number: index, start: random.number(0...50_000), requests: requests,
                closesWhenDone: true)
        }
    }
}
