import Assembly
import Basics
import Gateway
import GatewayConfig
import Promises
import Reactor
package import Rehearsal
import SimReactor

/// A cluster in virtual time, built from a plan: the workers of a real gateway with a drawn
/// configuration, the hosts of its backends and its clients. It runs once, and leaves a record.
///
/// The same plan gives the same run, to the byte. One thread; nothing in it waits.
package final class Cluster {
    let plan: ClusterPlan
    let network: SimNetwork
    /// Where clients and hosts live.
    let outside: SimLoop
    let trace = SimTrace()
    let began: Instant

    private(set) var process: SimulatedProcess?
    private(set) var workers: [SimulatedWorker] = []
    private(set) var hosts: [SimulatedHost] = []
    private(set) var clients: [SimulatedClient] = []
    private(set) var attempts: [Attempt] = []
    /// Health checks, in order of arrival.
    private(set) var probes: [Probe] = []
    /// Clients that received a response while no request of theirs was under way.
    private(set) var unsolicited: [SimulatedClient] = []
    private(set) var violations: [Violation] = []
    let journal = LogJournal()

    /// The numbers of the requests that clients began to send.
    private var sentNumbers: Set<Int> = []
    /// The next ordinal of each call of each request.
    private var ordinals: [Int: [(call: CallKey, count: Int)]] = [:]
    private var loaded: Loaded?

    package init(_ plan: ClusterPlan) {
        self.plan = plan
        network = SimNetwork(seed: plan.dice.dice("network").word())
        outside = network.makeLoop("outside")
        began = network.clock.now
        setUpNetwork()
    }

    package convenience init(seed: UInt64, options: RunOptions = RunOptions()) {
        self.init(ClusterPlan(seed: seed, options: options))
    }

    private func setUpNetwork() {
        network.trace = trace
        network.settings.keepsJournals = true
        let dice = plan.dice.dice("wire")
        let rates = plan.rates
        network.settings.latency =
            .microseconds(dice.pick([0, 20]))...(.microseconds(dice.pick([20, 200, 3000])))
        network.settings.messageLatency =
            .zero ... .microseconds(plan.dice.dice("inbox").pick([0, 100, 2000, 20_000]))
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

    /// Runs all of it.
    func run() -> RunRecord {
        let events = PromiseWatch.watching {
            guard start() else { return }
            network.run(until: { clients.allSatisfy(\.isDone) }, eventsMax: 2_000_000)
            end()
        }
        for event in events { violation(.leftovers, nil, event) }
        defer { for client in clients { client.forget() } }
        return record()
    }

    private func start() -> Bool {
        guard let loaded = load() else { return false }
        let process = SimulatedProcess(on: network, journal)
        self.process = process
        let count = plan.configs[0].workers
        for index in 0..<count {
            let worker = SimulatedWorker(index, of: count, loaded.plan, in: process)
            workers.append(worker)
            process.add(worker)
        }
        do throws(IOFailure) {
            for worker in workers {
                try worker.listen(at: plan.address, isShared: workers.count > 1)
            }
            try startHosts()
        } catch {
            violation(.leftovers, nil, "cannot listen: \(error)")
            return false
        }
        for (at, config) in zip(plan.reloads, loaded.reloads) {
            process.install(config, after: at)
        }
        if let drains = plan.drains { process.drain(after: drains) }
        startClients()
        return true
    }

    /// The first plan, and the configurations that workers compile after it.
    private struct Loaded {
        let plan: Plan
        let reloads: [RecordedConfig]
    }

    /// What the gateway reads of the drawn texts; made when it is first needed.
    private func load() -> Loaded? {
        if let loaded { return loaded }
        var first: Plan?
        var recorded: [RecordedConfig] = []
        for config in plan.configs {
            let text = ConfigText.of(config)
            let recording = ConfigRecording(files: ConfigFiles(oneFile: text)) { _ in nil }
            let (read, problems) = ConfigLoader.load(
                "drawn.yaml", files: recording.files, environment: recording.environment,
                contexts: recording.contexts)
            guard let read, let plan = try? Planner.plan(read, processors: 1) else {
                violation(.configuration, nil, problems.lines.joined(separator: "\n") + "\n" + text)
                return nil
            }
            first = first ?? plan.replacingSecurity(\.simulated)
            var config = recording.recorded("drawn.yaml", processors: 1)
            config.replaceSecurity = { $0.simulated }
            recorded.append(config)
        }
        loaded = first.map { Loaded(plan: $0, reloads: Array(recorded.dropFirst())) }
        return loaded
    }

    /// The same cluster again, before anything happened in it.
    func again() -> Cluster {
        let cluster = Cluster(plan)
        cluster.loaded = loaded
        return cluster
    }

    private func startHosts() throws(IOFailure) {
        for (index, backend) in plan.configs[0].backends.enumerated() {
            for (place, drawn) in backend.hosts.enumerated() {
                for moved in drawn.isName ? [false, true] : [false] {
                    let host = SimulatedHost(
                        at: drawn.address(of: index, moved: moved),
                        AskedPlace(backend: index, host: place, prefix: drawn.prefix),
                        on: outside, of: self)
                    try host.listen()
                    if backend.tls != nil {
                        network.identities[host.address] = DrawnTLS.identity(of: drawn)
                    }
                    hosts.append(host)
                    startWeather(of: host, drawn)
                }
                if drawn.isName { name(drawn, index, moved: false) }
                startWeather(ofName: drawn, index)
            }
        }
    }

    private func startClients() {
        for connection in plan.connections {
            let client = SimulatedClient(connection, on: outside, of: self)
            clients.append(client)
            client.start(to: plan.address)
        }
    }
}

// MARK: - What peers report

extension Cluster: HostDelegate, ClientDelegate {
    func violation(_ checker: Checker, _ mark: String?, _ text: String) {
        violations.append(Violation(checker: checker, mark: mark, text: text))
    }

    package func found(_ fault: PeerFault, _ mark: String?, _ text: String) {
        violation(fault == .surplusResponse ? .answers : .peers, mark, text)
    }

    package func sent(_ request: SentRequest) { sentNumbers.insert(request.request.number) }

    package func unasked(_ message: PeerMessage, _ client: SimulatedClient) {
        unsolicited.append(client)
    }

    package func asked(
        _ message: PeerMessage, at host: AskedPlace, on place: ServedPlace
    ) -> Served? {
        let path = message.path
        let rest = path.utf8.dropFirst(path.hasPrefix(host.prefix) ? host.prefix.utf8.count : 0)
        let segment = rest.split(separator: UInt8(ascii: "/")).first.map { Substring($0) } ?? ""
        if let generation = DrawnHealth.generation(of: segment) {
            return probe(generation, message, at: host, on: place)
        }
        return attempt(segment, message, at: host, on: place)
    }

    private func probe(
        _ generation: Int, _ message: PeerMessage, at host: AskedPlace, on place: ServedPlace
    ) -> Probe? {
        let worker = workers.firstIndex { $0.loop.name == place.stream.peerName } ?? 0
        let ordinal = probes.count {
            $0.backend == host.backend && $0.host == host.host && $0.worker == place.stream.peerName
        }
        let act = actDraw(
            plan.dice.dice("probe", host.backend, host.host, worker, ordinal), host, mark: "",
            key: "health", answerMax: 64 << 10
        ).check()
        let probe = Probe(
            generation: generation, message, at: host, act: act, arrived: network.clock.now,
            on: place)
        probes.append(probe)
        return probe
    }

    private func attempt(
        _ segment: Substring, _ message: PeerMessage, at host: AskedPlace, on place: ServedPlace
    ) -> Attempt? {
        guard let mark = message["X-Request-Id"], let number = Int(mark.dropFirst()),
            sentNumbers.contains(number)
        else {
            violation(
                .calls, nil, "a backend got a request that no client sent: \(message.startLine)")
            return nil
        }
        guard let key = CallKey(segment), plan.configs.indices.contains(key.generation),
            plan.configs[key.generation].endpoints.indices.contains(key.endpoint),
            plan.configs[key.generation].endpoints[key.endpoint].calls.indices.contains(key.call)
        else {
            violation(.calls, mark, "a backend got an unknown path: \(message.startLine)")
            return nil
        }
        let ordinal = nextOrdinal(of: key, number)
        let act = actDraw(
            plan.dice.dice("act", number, key.generation, key.call, ordinal), host, mark: mark,
            key: key.text,
            answerMax: plan.configs[key.generation].endpoints[key.endpoint].maxBody,
            answersHead: message.startLine.hasPrefix("HEAD ")
        ).act()
        let attempt = Attempt(
            request: number, mark: mark, call: key, ordinal: ordinal, message, at: host, act: act,
            arrived: network.clock.now, on: place)
        attempts.append(attempt)
        return attempt
    }

    /// Counts the attempts of one call of one request.
    private func nextOrdinal(of call: CallKey, _ request: Int) -> Int {
        var counts = ordinals[request, default: []]
        defer { ordinals[request] = counts }
        guard let index = counts.firstIndex(where: { $0.call == call }) else {
            counts.append((call, 1))
            return 0
        }
        counts[index].count += 1
        return counts[index].count - 1
    }

    private func actDraw(
        _ dice: RandomSource, _ host: AskedPlace, mark: String, key: String, answerMax: Int,
        answersHead: Bool = false
    ) -> ActDraw {
        let drawn = plan.configs[0].backends[host.backend].hosts[host.host]
        let milliseconds = (network.clock.now - began).inMilliseconds
        return ActDraw(
            dice: dice, rates: plan.rates, mark: mark, key: key,
            serial: "s\(attempts.count)", answerMax: answerMax,
            isIll: plan.weather.isIll(drawn, at: milliseconds), answersHead: answersHead)
    }
}

extension ConfigFiles {
    /// One file whose text is known, and the one that it names.
    fileprivate init(oneFile text: String) {
        self.init(
            read: { path throws(ConfigFileError) in
                Array((path.hasSuffix(DrawnTLS.authorityFile) ? DrawnTLS.authority : text).utf8)
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }
}
