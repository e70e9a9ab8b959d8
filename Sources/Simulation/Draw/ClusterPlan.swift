import Reactor
import Rehearsal

/// Everything that a run draws from its seed before it begins: configurations, faults, traffic. What is
/// drawn while it runs (the behaviour of hosts) comes from `dice`, under names of its own.
package struct ClusterPlan {
    let seed: UInt64
    let options: RunOptions
    let dice: RandomSource
    let rates: FaultRates
    let focus: Focus?
    /// One for each generation; reloads add to it.
    let configs: [DrawnConfig]
    let weather: HostOutages
    /// Milliseconds since the beginning; empty without a reload.
    let reloads: [Int]
    /// When the operator drains, in milliseconds since the beginning; nil without a drain.
    let drains: Int?

    package init(seed: UInt64, options: RunOptions = RunOptions()) {
        self.seed = seed
        self.options = options
        dice = RandomSource(seed: seed)
        let focus = Focus(dice.dice("focus"))
        let drawn = FaultRates(dice, without: options.without)
        let rates = focus?.limit(drawn) ?? drawn
        var first = ConfigDraw(dice: dice.dice("config"), generation: 0).config()
        focus?.adjust(&first, dice.dice("focus"))
        var configs = [first]
        var reloads: [Int] = []
        let operation = dice.dice("operation")
        while reloads.count < 3, operation.chance(rates[.reloads] * 3) {
            reloads.append((reloads.last ?? 0) + operation.number(1...200))
            configs.append(
                ConfigDraw(dice: operation.dice("config"), generation: configs.count)
                    .config(after: first))
        }
        // A run waits for its clients, and hosts are checked all the while: short limits keep it short.
        if configs.contains(where: \.asksHosts) {
            for index in configs.indices { configs[index].limits = configs[index].limits.impatient }
        }
        self.focus = focus
        self.rates = rates
        self.configs = configs
        self.reloads = reloads
        drains = operation.maybe(rates[.drains] * 2, operation.number(0...400))
        weather = HostOutages(
            dice.dice("weather"), rates, hosts: first.backends.flatMap(\.hosts),
            secure: first.backends.filter { $0.tls != nil }.flatMap(\.hosts),
            besides: focus?.outages(first) ?? [])
    }

    /// The connections that clients make, with the options applied.
    var connections: [ScriptedConnection] {
        allConnections.filter { options.connections?.contains($0.number) ?? true }.map {
            ScriptedConnection(
                number: $0.number, start: $0.start,
                requests: Array($0.requests.prefix(options.requestsMax ?? .max)), leaves: $0.leaves)
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
        let dice = dice.dice("traffic")
        return focus?.connections(dice, rates, configs[0])
            ?? TrafficDraw(dice: dice, rates: rates, config: configs[0]).connections()
    }
}
