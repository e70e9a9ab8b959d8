import Reactor
import Rehearsal

/// Everything that a run draws from its seed in advance: configurations, faults, traffic. The
/// behaviour of hosts is drawn during the run, from `random`, by name.
package struct ClusterPlan {
    let seed: UInt64
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

    package init(seed: UInt64, options: RunOptions = RunOptions()) {
        self.seed = seed
        self.options = options
        random = RandomSource(seed: seed)
        let focus = Focus(random.derived("focus"))
        let drawn = FaultRates(random, without: options.without)
        let rates = focus?.limit(drawn) ?? drawn
        var first = ConfigDraw(random: random.derived("config"), generation: 0).config()
        focus?.adjust(&first, random.derived("focus"))
        var configs = [first]
        var reloads: [Int] = []
        let operation = random.derived("operation")
        while reloads.count < 3, operation.chance(rates[.reloads] * 3) {
            reloads.append((reloads.last ?? 0) + operation.number(1...200))
            configs.append(
                ConfigDraw(random: operation.derived("config"), generation: configs.count)
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

    /// The connections of clients, with the options applied.
    var connections: [ScriptedConnection] {
        allConnections.filter { options.connections?.contains($0.number) ?? true }.map {
            ScriptedConnection(
                number: $0.number, start: $0.start,
                requests: Array($0.requests.prefix(options.requestsMax ?? .max)),
                closesWhenDone: $0.closesWhenDone)
        }
    }

    /// Where the gateway listens.
    var address: SocketAddress {
        configs[0].listensOnUnixSocket
            ? .unix(path: "/run/tributary.sock") : SimulatedWorker.address
    }

    /// Number of requests of all drawn connections.
    var requestCount: Int { allConnections.reduce(0) { $0 + $1.requests.count } }

    private var allConnections: [ScriptedConnection] {
        let random = random.derived("traffic")
        return focus?.connections(random, rates, configs[0])
            ?? TrafficDraw(random: random, rates: rates, config: configs[0]).connections()
    }
}
