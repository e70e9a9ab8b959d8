import Reactor
import Rehearsal

/// Everything that a run draws from its seed in advance: configurations, faults, traffic. The
/// behaviour of hosts is drawn during the run, from `random`, by name.
package struct ClusterPlan {
    /// Whether the run has endpoints with `proxy`, beside those with calls; or clients and backends with
    /// HTTP/2.
    package enum Kind: String, CaseIterable, Sendable { case aggregates, streams, http2 }

    let seed: UInt64
    let kind: Kind
    let options: RunOptions
    let random: RandomSource
    let rates: FaultRates
    let focus: Focus?
    /// One for each generation; a reload adds one.
    let configs: [DrawnConfig]
    let hostOutages: HostOutages
    /// Milliseconds since the run began; empty without a reload.
    let reloads: [Int]
    /// Milliseconds from the beginning of the run to the drain; nil without a drain.
    let drains: Int?

    package init(
        seed: UInt64, options: RunOptions = RunOptions(), _ kind: Kind = .aggregates
    ) {
        self.seed = seed
        self.kind = kind
        self.options = options
        let random = Self.random(seed, kind)
        self.random = random
        let focus = kind == .aggregates ? Focus(random.derived("focus")) : nil
        let drawn = FaultRates(random, without: options.without)
        let rates = focus?.limit(drawn) ?? drawn
        let hasStreams = kind == .streams
        var first = ConfigDraw(
            random: random.derived("config"), generation: 0, hasStreams: hasStreams,
            hasHTTP2: kind == .http2
        ).config()
        focus?.adjust(&first, random.derived("focus"))
        var configs = [first]
        var reloads: [Int] = []
        let operation = random.derived("operation")
        while reloads.count < 3, operation.chance(rates[.reloads] * 3) {
            reloads.append((reloads.last ?? 0) + operation.number(1...200))
            configs.append(
                ConfigDraw(
                    random: operation.derived("config"), generation: configs.count,
                    hasStreams: hasStreams, hasHTTP2: kind == .http2
                )
                .config(after: first))
        }
        // A run waits for its clients, and health checks continue until then: short limits keep it short.
        if configs.contains(where: \.checksHosts) {
            for index in configs.indices {
                configs[index].limits = configs[index].limits.withShortTimeouts
            }
        }
        self.focus = focus
        self.rates = rates
        self.configs = configs
        self.reloads = reloads
        drains = operation.maybe(rates[.drains] * 2, operation.number(0...400))
        hostOutages = HostOutages(
            random.derived("weather"), rates, hosts: first.backends.flatMap(\.hosts),
            secure: first.backends.filter { $0.tls != nil }.flatMap(\.hosts),
            including: focus?.outages(first) ?? [])
    }

    private static func random(_ seed: UInt64, _ kind: Kind) -> RandomSource {
        switch kind {
        case .aggregates: RandomSource(seed: seed)
        case .streams: RandomSource(seed: ~seed)
        case .http2: RandomSource(seed: seed).derived("http2")
        }
    }

    /// The connections of clients, with the options applied.
    var connections: [ScriptedConnection] {
        allConnections.filter { options.connections?.contains($0.number) ?? true }.map {
            ScriptedConnection(
                number: $0.number, start: $0.start,
                requests: Array($0.requests.prefix(options.requestsMax ?? .max)),
                closesWhenDone: $0.closesWhenDone, usesHTTP2: $0.usesHTTP2)
        }
    }

    /// Where the gateway listens.
    var address: SocketAddress {
        configs[0].listensOnUnixSocket
            ? .unix(path: "/run/tributary.sock") : SimulatedWorker.address
    }

    /// Where the gateway listens: the first address, and those of other listeners.
    var addresses: [SocketAddress] { [address] + configs[0].listeners.map(\.address) }

    /// Number of requests of all drawn connections.
    var requestCount: Int { firstStream + allStreams.reduce(0) { $0 + $1.requests.count } }

    /// The number of the first streamed request.
    private var firstStream: Int { allConnections.reduce(0) { $0 + $1.requests.count } }

    /// The connections of clients that send streamed requests, with the options applied.
    var streams: [StreamConnection] {
        allStreams.filter { options.connections?.contains($0.number) ?? true }.map {
            StreamConnection(
                number: $0.number, start: $0.start, listener: $0.listener, hello: $0.hello,
                requests: Array($0.requests.prefix(options.requestsMax ?? .max)))
        }
    }

    /// Bytes that the network of a run with streams takes at once; nil for the default.
    var streamWindow: Int? {
        guard kind == .streams, rates[.smallWindows] > 0 else { return nil }
        return random.derived("window").pick([64, 512, 4096, 16_384])
    }

    /// The most bytes of a streamed body: few where the network takes few at once.
    var bodyMax: Int { streamWindow.map { min(240_000, $0 * 60) } ?? 400_000 }

    private var allStreams: [StreamConnection] {
        guard kind == .streams else { return [] }
        return StreamDraw(
            random: random.derived("streams"), rates: rates, config: configs[0], lengthMax: bodyMax
        ).connections(first: allConnections.count, firstRequest: firstStream)
    }

    private var allConnections: [ScriptedConnection] {
        let random = random.derived("traffic")
        return focus?.connections(random, rates, configs[0])
            ?? TrafficDraw(
                random: random, rates: rates, config: configs[0],
                countMax: kind == .streams ? 2 : 6,
                hasHTTP2: kind == .http2
            ).connections()
    }
}
