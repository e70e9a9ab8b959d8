import Basics
import Gateway
import Promises
import Reactor
import Rehearsal
import SimReactor

/// A run of its own for some seeds: a gateway that verifies tokens, for two minutes of virtual time in
/// which the issuer rotates its keys, is slow, or is unreachable.
final class IssuerRun {
    let plan: IssuerPlan
    private let network: SimNetwork
    private let peerLoop: SimLoop
    private let began: Instant
    private let journal = LogJournal()
    private var process: SimulatedProcess?
    private var workers: [SimulatedWorker] = []
    private var hosts: [SimulatedHost] = []
    private(set) var clients: [SimulatedClient] = []
    /// The requests for keys, and what the issuer had at that time.
    private(set) var fetches: [HostRequest] = []
    private(set) var tokens: [IssuerPlan.Token] = []
    private(set) var violations: [Violation] = []

    private init(_ plan: IssuerPlan, seed: UInt64) {
        self.plan = plan
        network = SimNetwork(seed: RandomSource(seed: seed).derived("issuer-network").nextWord())
        network.settings.keepsJournals = true
        network.settings.latency = .zero ... .microseconds(200)
        peerLoop = network.makeLoop("outside")
        began = network.clock.now
    }

    /// The violations of the rules; empty for seeds without an issuer.
    static func violations(seed: UInt64) -> [Violation] {
        guard let plan = IssuerPlan(seed: seed) else { return [] }
        let run = IssuerRun(plan, seed: seed)
        run.runToEnd()
        return run.violations
    }

    /// Milliseconds since the run began.
    func milliseconds(_ moment: Instant) -> Double { (moment - began).inMilliseconds }

    /// Seconds since 1970, as the gateway's clock shows them.
    func unixSeconds(_ moment: Instant) -> Int64 {
        (peerLoop.unixTime - (peerLoop.now - moment).inNanoseconds) / 1_000_000_000
    }

    func add(_ mark: String?, _ text: String) {
        violations.append(Violation(checker: .tokens, mark: mark, text: text))
    }

    // MARK: Running

    private func runToEnd() {
        guard let config = load() else { return }
        tokens = plan.tokens(from: unixSeconds(began))
        let process = SimulatedProcess(on: network, journal)
        self.process = process
        for index in 0..<plan.workers {
            let worker = SimulatedWorker(index, of: plan.workers, config, in: process)
            workers.append(worker)
            process.add(worker)
        }
        do throws(IOFailure) {
            for worker in workers {
                try worker.listen(at: [SimulatedWorker.address], isShared: plan.workers > 1)
            }
            try startHosts()
        } catch {
            return add(nil, "cannot listen: \(error)")
        }
        for script in plan.connections(tokens) {
            let client = SimulatedClient(script, on: peerLoop, of: self)
            clients.append(client)
            client.scheduleConnect(to: SimulatedWorker.address)
        }
        network.run(until: { clients.allSatisfy(\.isDone) }, eventsMax: 2_000_000)
        TokensCheck(run: self).check()
        shutDown()
        for client in clients { client.releaseStream() }
    }

    private func load() -> Plan? {
        let text = plan.config
        let files = ConfigFiles(
            read: { _ throws(ConfigFileError) in Array(text.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (config, problems) = ConfigLoader.load("issuer.yaml", files: files) { _ in nil }
        guard let config, let plan = try? Planner.plan(config, processors: 1) else {
            add(nil, problems.lines.joined(separator: "\n"))
            return nil
        }
        return plan
    }

    private func startHosts() throws(IOFailure) {
        for (index, port) in [IssuerPlan.issuerPort, IssuerPlan.servicePort].enumerated() {
            let host = SimulatedHost(
                at: .ip(.v4(0x7F00_0001), port: port),
                BackendHost(backend: index, host: 0, prefix: ""), on: peerLoop, of: self)
            try host.listen()
            hosts.append(host)
        }
        let issuer = hosts[0]
        for outage in plan.outages where outage.kind == .refuses {
            peerLoop.timer(after: .milliseconds(outage.range.lowerBound)) { issuer.refuse() }
            peerLoop.timer(after: .milliseconds(outage.range.upperBound)) { try? issuer.listen() }
        }
    }

    private func shutDown() {
        for client in clients { client.disconnect() }
        network.advance(by: .seconds(1))
        for worker in workers {
            for work in worker.unfinishedWork {
                add(nil, "\(worker.loop.name): \(work) at the end")
            }
        }
        process?.close()
        network.advance(by: .milliseconds(200))
        for worker in workers {
            for rest in worker.leftovers() { add(nil, "\(worker.loop.name): \(rest)") }
        }
        process?.end()
        for fault in process?.faults ?? [] { add(nil, fault) }
        for host in hosts { host.close() }
        // Outages may end later.
        network.advance(by: .milliseconds(IssuerPlan.length * 2))
        for host in hosts { host.close() }
        if !network.runUntilQuiet() { add(nil, "the network never becomes quiet") }
    }
}

extension IssuerRun: HostDelegate, ClientDelegate {
    func recordFault(_ fault: PeerFault, _ mark: String?, _ text: String) { add(mark, text) }
    func clientSends(_ request: SentRequest) {}
    func clientReceivedUnsolicited(_ message: PeerMessage, _ client: SimulatedClient) {}

    func hostReceived(
        _ message: PeerMessage, at host: BackendHost, on position: ConnectionPosition
    ) -> HostRequest? {
        let script = host.backend == 0 ? issuerResponse(message) : Self.response(200, "\"ok\"")
        let request = HostRequest(
            message, at: host, script: script, arrived: network.clock.now, on: position)
        if host.backend == 0 { fetches.append(request) }
        return request
    }

    /// The issuer's response: its keys at this moment, after a delay.
    private func issuerResponse(_ message: PeerMessage) -> ScriptedResponse {
        let now = milliseconds(network.clock.now)
        let random = plan.random.derived("response", fetches.count)
        switch plan.outage(at: now)?.kind {
        case .hangs: return ScriptedResponse()
        case .fails, .refuses: return Self.response(random.pick([500, 404, 302]), "{}")
        case .sendsGarbage:
            return Self.response(200, random.pick(["", "{\"keys\":[{]}", "[]", "<html>"]))
        case nil: break
        }
        let set = plan.keySet(at: now)
        let tag = "\"\(set.utf8.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) })\""
        if plan.hasTags, message["If-None-Match"] == tag {
            return Self.response(304, nil, delay: random.number(0...plan.slowest))
        }
        return Self.response(
            200, set, tag: plan.hasTags ? tag : nil, delay: random.number(0...plan.slowest))
    }

    private static func response(
        _ status: Int, _ body: String?, tag: String? = nil, delay: Int = 0
    ) -> ScriptedResponse {
        var lines = ["HTTP/1.1 \(status) Status"]
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        if let tag { lines.append("ETag: \(tag)") }
        let bytes = Array(((lines + ["", ""]).joined(separator: "\r\n") + (body ?? "")).utf8)
        var script = ScriptedResponse()
        script.delay = delay
        script.pieces = [bytes]
        script.responseLength = bytes.count
        script.outcome = .response(status: status, body: Array((body ?? "").utf8), tree: nil)
        return script
    }
}
