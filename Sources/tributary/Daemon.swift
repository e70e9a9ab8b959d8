import ArgumentParser
import Assembly
import Basics
import Gateway
import Promises
import Reactor
import UVReactor

/// The process that serves: a control loop on the main thread, which owns signals and the admin page,
/// one thread for each core, and one that writes the log.
final class Daemon {
    let loop: UVLoop
    let log: Log
    /// What is served now.
    var config: RecordedConfig
    var process: ProcessPlan
    var reloads = MetricsPage.Reloads()
    private var sockets: WorkerSockets?
    private(set) var workers: [WorkerThread] = []
    let descriptorLimit: Int
    /// Until its connections are compared with the descriptors.
    private var firstPlan: Plan?
    let monitor: WorkerMonitor
    let logWriter: LogWriter
    /// Workers that do not listen yet.
    private var startingWorkers = 0
    private var signals: [SignalSource] = []
    private var admin: Admin?
    private let demo: Demo?
    private let inbox = UVInbox<ControlMessage>()
    private let shared: Shared
    /// Read again by a reload.
    let source: ConfigSource
    private var phase = Phase.starting
    /// How the daemon ends, as far as it is known.
    private var outcome = DaemonEnd()

    private enum Phase {
        case starting, ready, draining, ended
    }

    /// Serves a configuration, or the demo, until a signal ends it. Throws the exit status of what
    /// makes a start impossible.
    static func run(_ given: ConfigSource?) throws {
        let descriptorLimit = ProcessDescriptors.raiseLimit()
        var outcome = DaemonEnd()
        let shared = Shared(names: NameService())
        let left = try UVLoop.run(names: shared.names) { loop in
            let demo = given == nil ? try Demo(on: loop) : nil
            let source = given ?? ConfigSource(demo: demo?.variables ?? [:])
            let (recorded, _, plan) = try source.checked()
            let logWriter = try LogWriter.start(format: plan.process.log.format.format)
            let daemon = Daemon(
                source, recorded, plan, descriptorLimit, loop, logWriter, demo, shared)
            daemon.inbox.open(on: loop, for: daemon)
            daemon.onEnd = { outcome = $0 }
            try daemon.start()
        }
        try outcome.end(left: left)
    }

    /// Called once, when nothing runs any more.
    private var onEnd: (DaemonEnd) -> Void = { _ in }

    private init(
        _ source: ConfigSource, _ config: RecordedConfig, _ plan: Plan, _ descriptorLimit: Int,
        _ loop: UVLoop, _ logWriter: LogWriter, _ demo: Demo?, _ shared: Shared
    ) {
        self.source = source
        self.demo = demo
        self.shared = shared
        self.config = config
        self.descriptorLimit = descriptorLimit
        firstPlan = plan
        let process = plan.process
        self.process = process
        self.loop = loop
        self.logWriter = logWriter
        let log = Log(
            level: process.log.level.level, format: process.log.format.format,
            clock: { loop.unixTime }
        ) { logWriter.post($0) }
        self.log = log
        monitor = WorkerMonitor(loop: loop, log: log)
    }

    /// Whether it serves: all workers listen, and no signal has asked for its end.
    var isServing: Bool { phase == .ready }

    // MARK: Start

    private func start() throws {
        for signal in Signal.allCases {
            signals.append(
                try SignalSource(signal, on: loop) { [weak self] in self?.received(signal) })
        }
        loop.local.all(listenAddresses, adminAddress)
            .map { [self] listen, admin in try open(listen, admin) }
            .catch { [self] error in end(because: StartFailure(error)) }
    }

    /// The addresses to listen on, in the order of the configuration.
    private var listenAddresses: LocalPromise<[SocketAddress]> {
        loop.local.all(process.listeners.map { $0.address.resolved(on: loop) })
    }

    private var adminAddress: LocalPromise<SocketAddress?> {
        guard let admin = process.admin else { return loop.local.value(nil) }
        return admin.listen.address.resolved(on: loop).map { $0 }
    }

    /// Binds everything before the first core starts, so that an address in use ends the start with
    /// nothing begun.
    private func open(_ addresses: [SocketAddress], _ adminAddress: SocketAddress?) throws {
        guard phase == .starting else { return }
        var places: [WorkerSockets.Place] = []
        for (listener, address) in zip(process.listeners, addresses) {
            places.append(WorkerSockets.Place(address: address, access: try listener.access()))
        }
        let sockets = try WorkerSockets(binding: places, count: process.workers)
        let parcels = sockets.parcels
        self.sockets = consume sockets
        let budget = divideDescriptors()
        if let adminAddress, let plan = process.admin {
            let access = try plan.listen.access()
            admin = try opening(adminAddress) { () throws(IOFailure) in
                try Admin(
                    daemon: self, hosts: plan.hosts, on: adminAddress, access: access,
                    within: budget)
            }
        }
        startingWorkers = parcels.count
        for (index, sockets) in parcels.enumerated() {
            let setup = WorkerSetup(
                index: index, of: parcels.count, shared: shared, control: inbox, log: logWriter)
            let start = WorkerThread.Start(setup: setup, config: config, sockets: sockets)
            guard let thread = WorkerThread.start(start) else { throw StartFailure.threads }
            workers.append(thread)
            monitor.add(thread.worker)
        }
    }

    /// Counts what is open now, before the admin listener and the workers, and divides the rest.
    private func divideDescriptors() -> DescriptorBudget {
        let open = (ProcessDescriptors.open ?? Self.usuallyOpen) + 1
        let budget = DescriptorBudget(
            limit: descriptorLimit, open: open, workers: process.workers)
        config.descriptors = budget
        if let plan = firstPlan.take() { warnOfReducedConnections(plan) }
        return budget
    }

    /// What a process without inherited descriptors has open, where the system does not say.
    private static let usuallyOpen = 16

    func warnOfReducedConnections(_ plan: Plan) {
        guard let budget = config.descriptors,
            let connections = plan.reducedConnections(under: budget)
        else { return }
        log.write(.warning, "limits.connections reduced to fit the file descriptors") { line in
            line.add("connections", connections)
            line.add("file_descriptors", budget.limit)
        }
    }

    private func opening<Result>(
        _ address: SocketAddress, _ body: () throws(IOFailure) -> Result
    ) throws(StartFailure) -> Result {
        do throws(IOFailure) {
            return try body()
        } catch {
            throw .listen(address, error)
        }
    }

    /// A worker listens; with the last one the daemon is ready.
    private func workerListens() {
        startingWorkers -= 1
        guard phase == .starting, startingWorkers == 0, let addresses = sockets?.addresses else {
            return
        }
        let address = addresses.map { "\($0)" }.joined(separator: ", ")
        phase = .ready
        monitor.startHeartbeats()
        log.write(.info, "listening") { line in
            line.add("address", address)
            if let admin { line.add("admin", "\(admin.address)") }
            line.add("workers", process.workers)
            line.add("config", config.path)
            line.add("version", Version.number)
        }
        log.flush()
        if config.isDemo { logWriter.post(Array(DemoConfig.tour(of: address).utf8)) }
    }

    // MARK: Signals

    private func received(_ signal: Signal) {
        switch signal {
        case .hangUp: reload()
        case .interrupt, .terminate: drain()
        }
    }

    /// Lets what runs be answered, then ends. A second signal ends at once.
    private func drain() {
        guard phase == .ready else { return end(because: nil) }
        phase = .draining
        log.write(.info, "draining")
        log.flush()
        for thread in workers { thread.worker.send(.announceDrain) }
        loop.timer(after: process.drain.delay) { [self] in
            // The file of a unix socket goes first: who connects later meets the next daemon.
            sockets = nil
            for thread in workers { thread.worker.send(.drain) }
            abandonWorkers(after: process.drain.timeout)
        }
    }

    /// A worker has ended, with these things still open.
    private func workerEnded(_ index: Int, left: [String]) {
        workers[index].join()
        workers[index].worker.hasEnded = true
        monitor.ended(index)
        outcome.log(left, of: "worker-\(index)", to: log)
        if workers.allSatisfy(\.worker.hasEnded) { end(because: nil) }
    }

    /// Ends what runs, at once, and then the daemon.
    private func end(because failure: StartFailure?) {
        guard phase != .ended else { return }
        outcome.failure = outcome.failure ?? failure
        let running = workers.map(\.worker).filter { !$0.hasEnded }
        guard running.isEmpty else {
            // Each tells when it has ended, and the last one comes back here.
            phase = .draining
            for worker in running { worker.send(.close) }
            return abandonWorkers(after: .zero)
        }
        finish()
    }

    /// Beyond the time that workers have for their end: closing connections takes a moment.
    private static let endMargin = Duration.seconds(2)

    /// The control loop's own deadline for the end of all workers: one that hangs reads no message and
    /// must not keep the process alive.
    private func abandonWorkers(after limit: Duration) {
        loop.timer(after: limit + Self.endMargin) { [self] in
            guard phase != .ended else { return }
            for worker in workers.map(\.worker) where !worker.hasEnded {
                outcome.hasAbandonedWorkers = true
                log.write(.error, "worker abandoned, it did not end in time") {
                    $0.add("worker", worker.index)
                }
            }
            finish()
        }
    }

    private func finish() {
        phase = .ended
        if outcome.isClean { log.write(.info, "ended") }
        log.flush()
        outcome.log = log
        outcome.logWriter = logWriter
        onEnd(outcome)
        sockets = nil
        monitor.stop()
        admin?.close()
        demo?.close()
        signals.removeAll()
        inbox.close()
        loop.stop()
    }
}

extension Daemon: MessageReceiver {
    func receive(_ message: ControlMessage) {
        let worker = message.worker
        switch message.event {
        case .listening: workerListens()
        case .failed(let failure): end(because: StartFailure(failure))
        case .ended(let left): workerEnded(worker, left: left)
        case .snapshot(let snapshot): monitor.received(snapshot, from: worker)
        case .installationFailed: installationFailed(worker)
        }
    }
}
