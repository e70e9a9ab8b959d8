import Assembly
import Basics
import Gateway
import Promises
import Reactor
import Rehearsal
import SimReactor

/// Some replicas of a gateway with one limit that they share in a simulated store, under more load than
/// the limit allows and with faults of the store, in virtual time.
final class StoreRun {
    let plan: StoreRunPlan
    private let network: SimNetwork
    private let outside: SimLoop
    private let store: SimulatedStore
    private let began: Instant
    private var instances: [GatewayInstance] = []
    private var clients: [StoreRunClient] = []
    private var backendListener: (any Listener)?
    private var backendPeers: [ScriptedPeer] = []
    private(set) var record = StoreRunRecord()

    private static let storeAddress = SocketAddress.ip(.v4(0x0A00_0009), port: 6379)
    private static let backendAddress = SocketAddress.ip(.v4(0x0A00_0008), port: 7001)

    /// The violations of a seed.
    static func violations(of seed: UInt64) -> [Violation] {
        let run = StoreRun(seed: seed)
        return run.runToEnd() + StoreRunCheck(run.plan, run.record).violations
    }

    init(seed: UInt64) {
        plan = StoreRunPlan(seed: seed)
        network = SimNetwork(seed: plan.random.derived("network").nextWord())
        network.settings.latency = .microseconds(20)...(.microseconds(200))
        if plan.random.derived("split").chance(0.2) { network.settings.split = .random }
        outside = network.makeLoop("outside")
        store = SimulatedStore(on: outside, at: Self.storeAddress)
        began = network.clock.now
    }

    /// Runs to the end; returns what is wrong already.
    func runToEnd() -> [Violation] {
        var violations: [Violation] = []
        let events = PromiseEventRecorder.recording {
            do {
                try start()
            } catch {
                return violations.append(Violation(.configuration, "\(error)"))
            }
            network.advance(by: .milliseconds(StoreRunPlan.duration))
            for client in clients { client.stop() }
            network.advance(by: .milliseconds(200))
            violations += end()
        }
        return violations + events.map { Violation(.leftovers, $0) }
    }

    private var now: Double { (network.clock.now - began).inMilliseconds }

    // MARK: Start

    private struct InvalidConfig: Error, CustomStringConvertible {
        let description: String
    }

    private func start() throws {
        try store.start()
        try startBackend()
        let gatewayPlan = try gatewayPlan()
        var worker = 0
        for (replica, workers) in plan.replicas.enumerated() {
            let names = network.makeNameService()
            let shared = SharedResources(names: names, hashKey: hashKey(replica))
            for _ in 0..<workers {
                try startWorker(worker, of: replica, gatewayPlan, shared)
                worker += 1
            }
        }
        for fault in plan.faults { schedule(fault) }
    }

    private func hashKey(_ replica: Int) -> KeyedHash.Key {
        KeyedHash.Key(UInt64(replica), plan.random.derived("hash", replica).nextWord())
    }

    private func gatewayPlan() throws -> Plan {
        let (config, problems) = ConfigLoader.load(
            "drawn.yaml",
            files: ConfigFiles(
                read: { [text = plan.config] _ in Array(text.utf8) },
                list: { _ throws(ConfigFileError) in throw .notFound }),
            environment: { _ in nil })
        guard let config else {
            throw InvalidConfig(description: problems.lines.joined(separator: "\n"))
        }
        return try Planner.plan(config, processors: 1)
    }

    private func startWorker(
        _ worker: Int, of replica: Int, _ gatewayPlan: Plan, _ shared: SharedResources
    ) throws {
        let loop = network.makeLoop("worker \(worker)", names: shared.names)
        let log = Log(level: .info, format: .json, clock: { [loop] in loop.unixTime }) {
            [unowned self] line in
            recordLog(String(decoding: line, as: UTF8.self), worker)
        }
        let instance = GatewayInstance(gatewayPlan, loop: loop, log: log, shared: shared)
        instances.append(instance)
        let address = SocketAddress.ip(.v4(0x0A00_0100 + UInt32(worker)), port: 8080)
        _ = try instance.listen(on: address, sharedPort: false)
        for key in 0..<plan.keys {
            let client = StoreRunClient(
                to: address, worker: worker, replica: replica, key: key, on: outside,
                pause: key == StoreRunPlan.rareKey ? 700 * plan.workers : plan.pause,
                plan.random.derived("client", worker, key)
            ) { [unowned self] request in record.requests.append(request) }
            clients.append(client)
            client.start(at: began)
        }
    }

    private func recordLog(_ text: String, _ worker: Int) {
        for (message, isUp) in [("store down", false), ("store up", true)]
        where text.contains("\"msg\":\"\(message)\"") {
            record.changes.append(
                StoreRunRecord.Change(worker: worker, isUp: isUp, at: now, text: text))
        }
    }

    /// Responds to everything after a millisecond.
    private func startBackend() throws {
        backendListener = try outside.listen(on: Self.backendAddress, sharedPort: false) {
            [unowned self] stream in
            let peer = ScriptedPeer(stream)
            backendPeers.append(peer)
            peer.onReceived = { [outside] peer in
                // One request at a time, without a body.
                guard peer.text.hasSuffix("\r\n\r\n") else { return }
                peer.clearReceived()
                outside.timer(after: .milliseconds(1)) {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
                }
            }
            peer.onEnded = { $0.stream.close() }
        }
    }

    // MARK: Faults

    private func schedule(_ fault: StoreFault) {
        outside.timer(after: .milliseconds(fault.from)) { [unowned self] in begin(fault) }
        outside.timer(after: .milliseconds(fault.until)) { [unowned self] in end(fault) }
    }

    private func begin(_ fault: StoreFault) {
        switch fault.kind {
        case .killed: store.kill()
        case .forgetsScripts: store.forgetScripts()
        case .unreachable: network.connectBehaviors[Self.storeAddress] = .silent
        default: break
        }
        if let storeFault = fault.storeFault { store.set(storeFault) }
    }

    private func end(_ fault: StoreFault) {
        network.connectBehaviors[Self.storeAddress] = nil
        store.set(nil)
        if !store.isRunning { try? store.start() }
    }

    // MARK: End

    /// Closes everything; what is left is a violation.
    private func end() -> [Violation] {
        record.unanswered = clients.count { $0.isWaiting }
        for client in clients { client.close() }
        for instance in instances { _ = instance.close() }
        network.advance(by: .milliseconds(200))
        instances = []
        store.kill()
        backendListener?.close()
        for peer in backendPeers { peer.stream.close() }
        backendPeers = []
        network.runUntilQuiet()
        return network.leftovers.map { Violation(.leftovers, $0) }
    }
}

/// What happened in a run; times are in milliseconds since it began.
struct StoreRunRecord {
    struct Request {
        let worker: Int
        let replica: Int
        let key: Int
        let began: Double
        let ended: Double
        let status: Int
    }

    /// A worker found the store down or up.
    struct Change {
        let worker: Int
        let isUp: Bool
        let at: Double
        let text: String
    }

    var requests: [Request] = []
    var changes: [Change] = []
    var unanswered = 0
}
