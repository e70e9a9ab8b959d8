import Assembly
import Basics
import Gateway
import Promises
import Reactor
package import Rehearsal
import SimReactor

/// A simulated cluster in virtual time, built from a plan: the workers of a gateway with a drawn
/// configuration, the hosts of its backends, and its clients. It runs once and leaves a record.
///
/// The same plan gives the same run, to the byte. Everything runs on one thread and never blocks.
package final class Cluster {
    let plan: ClusterPlan
    let network: SimNetwork
    /// The loop of clients and hosts.
    let peerLoop: SimLoop
    let trace = SimTrace()
    let began: Instant

    private(set) var process: SimulatedProcess?
    private(set) var workers: [SimulatedWorker] = []
    var hosts: [SimulatedHost] = []
    private(set) var clients: [SimulatedClient] = []
    /// Clients that use HTTP/2, and those of endpoints with `proxy`.
    var peers: [PeerClient] = []
    /// How many connections hosts with HTTP/2 have accepted.
    var http2Connections = 0
    private(set) var attempts: [Attempt] = []
    /// Attempts of streamed requests, in order of arrival.
    var streamAttempts: [HostStream] = []
    /// Health checks, in order of arrival.
    private(set) var probes: [Probe] = []
    /// Clients that received a response while they had no request in progress.
    private(set) var unsolicited: [SimulatedClient] = []
    private(set) var violations: [Violation] = []
    let journal = LogJournal()

    /// Numbers of the requests that clients began to send.
    var sentNumbers: Set<Int> = []
    /// The next ordinal of each call of each request.
    private var ordinals: [Int: [(call: CallKey, count: Int)]] = [:]
    private var loaded: Loaded?

    package init(_ plan: ClusterPlan) {
        self.plan = plan
        network = SimNetwork(seed: plan.random.derived("network").nextWord())
        peerLoop = network.makeLoop("outside")
        began = network.clock.now
        setUpNetwork()
    }

    package convenience init(
        seed: UInt64, options: RunOptions = RunOptions(), _ kind: ClusterPlan.Kind = .aggregates
    ) {
        self.init(ClusterPlan(seed: seed, options: options, kind))
    }

    private func setUpNetwork() {
        network.trace = trace
        network.settings.keepsJournals = true
        let random = plan.random.derived("wire")
        let rates = plan.rates
        network.settings.latency =
            .microseconds(random.pick([0, 20]))...(.microseconds(random.pick([20, 200, 3000])))
        network.settings.messageLatency =
            .zero ... .microseconds(plan.random.derived("inbox").pick([0, 100, 2000, 20_000]))
        if random.chance(rates[.splitReads] * 4) { network.settings.split = .random }
        if random.chance(rates[.smallWindows] * 3) {
            network.settings.windowBytes = random.pick([64, 512, 4096])
        }
        if let window = plan.streamWindow { network.settings.windowBytes = window }
        if random.chance(rates[.stalls] * 3) {
            network.settings.stalls = (
                oneIn: random.number(5...50), upTo: .milliseconds(random.number(5...60))
            )
        }
    }

    // MARK: Running

    /// Runs the cluster until every client is done, and checks what is left.
    func runToEnd() -> RunRecord {
        let events = PromiseEventRecorder.recording {
            guard startAll() else { return }
            network.run(
                until: { clients.allSatisfy(\.isDone) && peers.allSatisfy(\.isDone) },
                eventsMax: 2_000_000)
            shutDown()
        }
        for event in events { recordViolation(.leftovers, nil, event) }
        defer {
            for client in clients { client.releaseStream() }
            for client in peers { client.releaseStream() }
        }
        return record()
    }

    private func startAll() -> Bool {
        guard let loaded = load() else { return false }
        let process = SimulatedProcess(on: network, journal)
        let listeners = plan.configs[0].listeners
        process.shared.listeners.replaceSecurity = { settings in
            .simulated(DrawnListenTLS.policy(for: settings, of: listeners))
        }
        self.process = process
        let count = plan.configs[0].workers
        for index in 0..<count {
            let worker = SimulatedWorker(index, of: count, loaded.plan, in: process)
            workers.append(worker)
            process.add(worker)
        }
        do throws(IOFailure) {
            for worker in workers {
                try worker.listen(at: plan.addresses, isShared: workers.count > 1)
            }
            try startHosts()
            try startStreamHosts()
        } catch {
            recordViolation(.leftovers, nil, "cannot listen: \(error)")
            return false
        }
        for (at, config) in zip(plan.reloads, loaded.reloads) {
            process.install(config, after: at)
        }
        if let drains = plan.drains { process.drain(after: drains) }
        startClients()
        startStreamClients()
        return true
    }

    /// The first plan, and the configurations of reloads.
    private struct Loaded {
        let plan: Plan
        let reloads: [RecordedConfig]
    }

    /// Loads the drawn texts through the gateway's own loader, once.
    private func load() -> Loaded? {
        if let loaded { return loaded }
        var first: Plan?
        var recorded: [RecordedConfig] = []
        for config in plan.configs {
            let text = config.text
            let recording = ConfigRecording(files: ConfigFiles(text, config.auth)) { _ in nil }
            let (read, problems) = ConfigLoader.load(
                "drawn.yaml", files: recording.files, environment: recording.environment,
                contexts: recording.contexts)
            guard let read, let plan = try? Planner.plan(read, processors: 1) else {
                recordViolation(
                    .configuration, nil, problems.lines.joined(separator: "\n") + "\n" + text)
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

    /// The same cluster before its run.
    func copy() -> Cluster {
        let cluster = Cluster(plan)
        cluster.loaded = loaded
        return cluster
    }

    private func startHosts() throws(IOFailure) {
        for (index, backend) in plan.configs[0].backends.enumerated() {
            for (place, drawn) in backend.hosts.enumerated() {
                for moved in drawn.isName ? [false, true] : [false] {
                    let target = BackendHost(backend: index, host: place, prefix: drawn.prefix)
                    let host = SimulatedHost(
                        at: drawn.address(of: index, moved: moved), target, on: peerLoop, of: self,
                        serve: backend.http2.map { _ in http2Connection(to: target) })
                    try host.listen()
                    if backend.tls != nil {
                        network.identities[host.address] = DrawnTLS.identity(of: drawn)
                    }
                    hosts.append(host)
                    scheduleOutages(of: host, drawn)
                }
                if drawn.isName { setAddress(ofName: drawn, index, moved: false) }
                scheduleNameOutages(of: drawn, index)
            }
        }
    }

    private func startClients() {
        for connection in plan.connections where !connection.usesHTTP2 {
            let client = SimulatedClient(connection, on: peerLoop, of: self)
            clients.append(client)
            client.scheduleConnect(to: plan.address)
        }
        startHTTP2Clients()
    }
}

// MARK: - Events of peers

extension Cluster: HostDelegate, ClientDelegate {
    func recordViolation(_ checker: Checker, _ mark: String?, _ text: String) {
        violations.append(Violation(checker: checker, mark: mark, text: text))
    }

    package func recordFault(_ fault: PeerFault, _ mark: String?, _ text: String) {
        recordViolation(fault == .surplusResponse ? .responses : .peers, mark, text)
    }

    package func clientSends(_ request: SentRequest) { sentNumbers.insert(request.request.number) }

    package func clientReceivedUnsolicited(_ message: PeerMessage, _ client: SimulatedClient) {
        unsolicited.append(client)
    }

    package func hostReceived(
        _ message: PeerMessage, at host: BackendHost, on position: ConnectionPosition
    ) -> HostRequest? {
        let path = message.path
        let rest = path.utf8.dropFirst(path.hasPrefix(host.prefix) ? host.prefix.utf8.count : 0)
        let segment = rest.split(separator: UInt8(ascii: "/")).first.map { Substring($0) } ?? ""
        if let generation = DrawnHealth.generation(of: segment) {
            return probe(generation, message, at: host, on: position)
        }
        return attempt(segment, message, at: host, on: position)
    }

    private func probe(
        _ generation: Int, _ message: PeerMessage, at host: BackendHost,
        on position: ConnectionPosition
    ) -> Probe? {
        let worker = workers.firstIndex { $0.loop.name == position.stream.peerName } ?? 0
        let ordinal = probes.count {
            $0.backend == host.backend && $0.host == host.host
                && $0.worker == position.stream.peerName
        }
        let draw = responseDraw(
            plan.random.derived("probe", host.backend, host.host, worker, ordinal), host, mark: "",
            key: "health", responseMax: 64 << 10)
        let probe = Probe(
            generation: generation, message, at: host, script: draw.healthScript(),
            arrived: network.clock.now,
            on: position)
        probes.append(probe)
        return probe
    }

    private func attempt(
        _ segment: Substring, _ message: PeerMessage, at host: BackendHost,
        on position: ConnectionPosition
    ) -> Attempt? {
        guard let mark = message["X-Request-Id"], let number = Int(mark.dropFirst()),
            sentNumbers.contains(number)
        else {
            recordViolation(
                .calls, nil,
                "a backend received a request that no client sent: \(message.startLine)")
            return nil
        }
        guard let key = CallKey(segment), plan.configs.indices.contains(key.generation),
            plan.configs[key.generation].endpoints.indices.contains(key.endpoint),
            plan.configs[key.generation].endpoints[key.endpoint].calls.indices.contains(key.call)
        else {
            recordViolation(
                .calls, mark, "a backend received an unknown path: \(message.startLine)")
            return nil
        }
        let ordinal = nextOrdinal(of: key, number)
        let draw = responseDraw(
            plan.random.derived("act", number, key.generation, key.call, ordinal), host, mark: mark,
            key: key.text,
            responseMax: plan.configs[key.generation].endpoints[key.endpoint].maxBody,
            isResponseToHead: message.startLine.hasPrefix("HEAD "))
        let attempt = Attempt(
            request: number, mark: mark, call: key, ordinal: ordinal, message, at: host,
            script: draw.script(), arrived: network.clock.now, on: position)
        attempts.append(attempt)
        return attempt
    }

    /// The number of the next attempt of one call of one request.
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

    private func responseDraw(
        _ random: RandomSource, _ host: BackendHost, mark: String, key: String, responseMax: Int,
        isResponseToHead: Bool = false
    ) -> ResponseDraw {
        let drawn = plan.configs[0].backends[host.backend].hosts[host.host]
        let milliseconds = (network.clock.now - began).inMilliseconds
        return ResponseDraw(
            random: random, rates: plan.rates, mark: mark, key: key,
            serial: "s\(attempts.count)", responseMax: responseMax,
            isFailing: plan.hostOutages.failsRequests(drawn, at: milliseconds),
            isResponseToHead: isResponseToHead,
            usesHTTP2: plan.configs[0].backends[host.backend].http2 != nil)
    }
}

extension ConfigFiles {
    /// The configuration text, and the files that it names.
    fileprivate init(_ text: String, _ auth: DrawnAuth?) {
        self.init(
            read: { path throws(ConfigFileError) in
                if let keys = auth?.keyFile(path) { return Array(keys.utf8) }
                return Array((TLSFiles.content(path) ?? text).utf8)
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }
}
