import Assembly
import Basics
import Gateway
import Promises
import Reactor
import SimReactor

/// A whole machine room in virtual time, drawn from one seed: the cores of a real gateway with a drawn
/// configuration, the hosts of its backends, its clients, and everything that goes wrong.
///
/// The same seed and options give the same run, to the byte. One thread; nothing in it waits.
package final class World {
    let seed: UInt64
    let options: RunOptions
    let dice: Dice
    let rates: FaultRates

    let network: SimNetwork
    /// Where clients and hosts live.
    let outside: SimLoop
    let trace = SimTrace()
    let began: Instant

    /// One for each generation; reloads add to it.
    let configs: [DrawnConfig]
    let weather: Weather
    /// Milliseconds since the beginning; empty without a reload.
    let reloads: [Int]
    /// Nil where nobody drains.
    let drains: Int?

    private(set) var cores: [SimulatedCore] = []
    private(set) var hosts: [SimulatedHost] = []
    private(set) var clients: [SimulatedClient] = []

    /// Every request that a client began to send, by its number.
    private(set) var requests: [SentRequest?] = []
    private(set) var attempts: [Attempt] = []
    /// Those of each request, by its number.
    private var attemptsByRequest: [[Attempt]] = []
    /// Checks of hosts' health, in order of arrival.
    private(set) var probes: [Probe] = []
    private(set) var unasked: [(message: Message, client: SimulatedClient)] = []
    private(set) var violations: [Violation] = []
    let journal = LogJournal()
    private var plans: [Plan] = []

    /// Where the gateway listens.
    static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)

    package init(seed: UInt64, options: RunOptions = RunOptions()) {
        self.seed = seed
        self.options = options
        dice = Dice(seed: seed)
        rates = FaultRates(dice, without: options.without)
        network = SimNetwork(seed: dice.dice("network").word())
        outside = network.makeLoop("outside")
        began = network.clock.now
        let first = ConfigDraw(dice: dice.dice("config"), generation: 0).config()
        var configs = [first]
        var reloads: [Int] = []
        let operation = dice.dice("operation")
        while reloads.count < 3, operation.chance(rates[.reloads] * 3) {
            reloads.append((reloads.last ?? 0) + operation.number(1...200))
            configs.append(
                ConfigDraw(dice: operation.dice("config"), generation: configs.count)
                    .config(after: first))
        }
        // While clients are waited for, hosts are asked how they are: a minute of that is dull.
        if configs.contains(where: \.asksHosts) {
            for index in configs.indices { configs[index].limits = configs[index].limits.impatient }
        }
        self.configs = configs
        self.reloads = reloads
        drains = operation.maybe(rates[.drains] * 2, operation.number(0...400))
        weather = Weather(
            dice.dice("weather"), rates, hosts: first.backends.flatMap(\.hosts))
        setUpNetwork()
    }

    /// The first configuration as an operator would write it.
    package var configText: String { ConfigText.of(configs[0]) }

    private func setUpNetwork() {
        network.trace = trace
        network.settings.keepsJournals = true
        let dice = dice.dice("wire")
        network.settings.latency =
            .microseconds(dice.pick([0, 20]))...(.microseconds(dice.pick([20, 200, 3000])))
        if dice.chance(rates[.splitReads] * 4) { network.settings.split = .random }
        if dice.chance(rates[.smallWindows] * 3) {
            network.settings.windowBytes = dice.pick([64, 512, 4096])
        }
        if dice.chance(rates[.stalls] * 3) {
            network.settings.stalls = (
                oneIn: dice.number(5...50), upTo: .milliseconds(dice.number(5...60))
            )
        }
    }

    // MARK: Running

    /// Runs all of it and gives what was wrong.
    ///
    /// - Parameters:
    ///   - forgetting: nothing can be told of the run afterwards
    ///   - checking: whether the answers are judged; what is left at the end always is
    func run(forgetting: Bool = true, checking: Bool = true) -> [Violation] {
        let forgotten = PromiseWatch.watching {
            guard start() else { return }
            network.run(until: { clients.allSatisfy(\.isDone) }, eventsMax: 2_000_000)
            end()
        }
        for event in forgotten { violation(.leftovers, nil, event) }
        if checking { check() }
        if forgetting { forget() }
        return violations
    }

    func forget() {
        for client in clients { client.forget() }
    }

    private func start() -> Bool {
        guard let plans = load() else { return false }
        let shared = SharedCounts()
        for index in 0..<configs[0].workers {
            cores.append(SimulatedCore(index, plans[0], on: network, journal, shared: shared))
        }
        do throws(IOFailure) {
            for core in cores { try core.listen(at: Self.address, isShared: cores.count > 1) }
            try startHosts()
        } catch {
            violation(.leftovers, nil, "cannot listen: \(error)")
            return false
        }
        for (at, plan) in zip(reloads, plans.dropFirst()) {
            for core in cores { core.install(plan, after: at) }
        }
        if let drains { for core in cores { core.drain(after: drains) } }
        startClients()
        return true
    }

    /// What the drawn texts mean to the gateway; made when it is first asked for.
    private func load() -> [Plan]? {
        if !plans.isEmpty { return plans }
        for config in configs {
            let text = ConfigText.of(config)
            let (loaded, problems) = ConfigLoader.load(
                "drawn.yaml", files: ConfigFiles(oneFile: text), environment: { _ in nil })
            guard let loaded, let plan = try? Planner.plan(loaded, processors: 1) else {
                violation(.configuration, nil, problems.lines.joined(separator: "\n") + "\n" + text)
                return nil
            }
            plans.append(plan)
        }
        return plans
    }

    /// The same world again, before anything happened in it.
    func again() -> World {
        let world = World(seed: seed, options: options)
        world.plans = plans
        return world
    }

    private func startHosts() throws(IOFailure) {
        for (index, backend) in configs[0].backends.enumerated() {
            for (place, drawn) in backend.hosts.enumerated() {
                for moved in drawn.isName ? [false, true] : [false] {
                    let host = SimulatedHost(
                        at: drawn.address(of: index, moved: moved),
                        AskedPlace(backend: index, host: place, prefix: drawn.prefix),
                        on: outside, of: self)
                    try host.listen()
                    hosts.append(host)
                    startWeather(of: host, drawn)
                }
                if drawn.isName { name(drawn, index, moved: false) }
                startWeather(ofName: drawn, index)
            }
        }
    }

    private var traffic: [DrawnConnection] {
        TrafficDraw(dice: dice.dice("traffic"), rates: rates, config: configs[0]).connections()
    }

    /// The connections that its clients would make, by their numbers.
    var connectionNumbers: [Int] { traffic.map(\.number) }

    private func startClients() {
        let drawn = traffic
        let count = drawn.reduce(0) { $0 + $1.requests.count }
        requests = Array(repeating: nil, count: count)
        attemptsByRequest = Array(repeating: [], count: count)
        for connection in drawn where options.connections?.contains(connection.number) ?? true {
            let kept = connection.requests.prefix(options.requestsMax ?? .max)
            let client = SimulatedClient(
                DrawnConnection(
                    number: connection.number, start: connection.start, requests: Array(kept),
                    leaves: connection.leaves),
                on: outside, of: self)
            clients.append(client)
            client.start(to: Self.address)
        }
    }

    // MARK: Time

    /// Milliseconds since the run began.
    func ms(_ moment: Instant) -> Double { (moment - began).inMilliseconds }

    /// Attempts for a request.
    func attempts(of request: SentRequest) -> [Attempt] {
        attemptsByRequest[request.request.number]
    }
}

// MARK: - What peers tell

extension World: HostWorld, ClientWorld {
    func violation(_ checker: Checker, _ mark: String?, _ text: String) {
        violations.append(Violation(checker: checker, mark: mark, text: text))
    }

    func sent(_ request: SentRequest) { requests[request.request.number] = request }

    func unasked(_ message: Message, _ client: SimulatedClient) {
        unasked.append((message, client))
    }

    func asked(_ message: Message, at host: AskedPlace, on place: ServedPlace) -> Served? {
        let path = message.path
        let rest = path.utf8.dropFirst(path.hasPrefix(host.prefix) ? host.prefix.utf8.count : 0)
        let segment = rest.split(separator: UInt8(ascii: "/")).first.map { Substring($0) } ?? ""
        if let generation = DrawnHealth.generation(of: segment) {
            return probe(generation, message, at: host, on: place)
        }
        return attempt(segment, message, at: host, on: place)
    }

    private func probe(
        _ generation: Int, _ message: Message, at host: AskedPlace, on place: ServedPlace
    ) -> Probe? {
        let core = cores.firstIndex { $0.loop.name == place.stream.peerName } ?? 0
        let ordinal = probes.count {
            $0.backend == host.backend && $0.host == host.host && $0.core == place.stream.peerName
        }
        let act = actDraw(
            dice.dice("probe", host.backend, host.host, core, ordinal), host, mark: "",
            key: "health", answerMax: 64 << 10
        ).check()
        let probe = Probe(
            generation: generation, message, at: host, act: act, arrived: network.clock.now,
            on: place)
        probes.append(probe)
        return probe
    }

    private func attempt(
        _ segment: Substring, _ message: Message, at host: AskedPlace, on place: ServedPlace
    ) -> Attempt? {
        guard let mark = message["X-Request-Id"], let number = Int(mark.dropFirst()),
            requests.indices.contains(number), requests[number] != nil
        else {
            violation(.calls, nil, "a backend got a request that nobody sent: \(message.startLine)")
            return nil
        }
        guard let key = CallKey(segment), configs.indices.contains(key.generation),
            configs[key.generation].endpoints.indices.contains(key.endpoint),
            configs[key.generation].endpoints[key.endpoint].calls.indices.contains(key.call)
        else {
            violation(.calls, mark, "a backend got an unknown path: \(message.startLine)")
            return nil
        }
        let ordinal = attemptsByRequest[number].count { $0.call == key }
        let act = actDraw(
            dice.dice("act", number, key.generation, key.call, ordinal), host, mark: mark,
            key: key.text,
            answerMax: configs[key.generation].endpoints[key.endpoint].maxBody
        ).act()
        let attempt = Attempt(
            number: attempts.count, mark: mark, call: key, ordinal: ordinal, message, at: host,
            act: act, arrived: network.clock.now, on: place)
        attempts.append(attempt)
        attemptsByRequest[number].append(attempt)
        return attempt
    }

    private func actDraw(
        _ dice: Dice, _ host: AskedPlace, mark: String, key: String, answerMax: Int
    ) -> ActDraw {
        let drawn = configs[0].backends[host.backend].hosts[host.host]
        return ActDraw(
            dice: dice, rates: rates, mark: mark, key: key,
            serial: "s\(attempts.count)", answerMax: answerMax,
            isIll: weather.isIll(drawn, at: ms(network.clock.now)))
    }
}

extension ConfigFiles {
    /// One file whose text is known.
    fileprivate init(oneFile text: String) {
        self.init(
            read: { _ throws(ConfigFileError) in Array(text.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }
}
