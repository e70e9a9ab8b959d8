import Assembly
import Basics
import Gateway
import HTTP
import Promises
import Reactor
import System
package import UVReactor

/// The gateway process: a control loop on the main thread, which owns the signals and the admin
/// server, one thread for each worker, and one thread that writes the log.
package final class Daemon {
    let loop: UVLoop
    let log: Log
    /// The configuration in use.
    var config: RecordedConfig { didSet { digest = nil } }
    /// Of `config`; nil until a page shows it.
    var digest: ConfigDigest?
    /// When it was installed, at the start or by a reload.
    var configInstalled: Instant
    var process: ProcessPlan
    var reloads = ProcessFacts.Reloads()
    var reloadStatus: ReloadStatus
    /// Of the reload that is in progress, as the log has them.
    var reloadProblems: [String] = []
    /// The reload that is in progress, and the one that follows it.
    var currentReload: LocalPromise<ReloadOutcome>?
    var nextReload: LocalPromise<ReloadOutcome>?
    /// Compiles the plans of a new configuration.
    let planCompiler = BlockingPool(threads: 1)
    let planInspector = PlanInspector()
    let started: Instant
    /// In nanoseconds since 1970.
    let startedAt: Int64
    /// The last reload changed nothing.
    var hasFailedReload = false
    private var sockets: WorkerSockets?
    private(set) var workers: [WorkerThread] = []
    /// For people; set when all workers listen.
    var servedAddress = ""
    let descriptorLimit: Int
    /// The plan of the start, until its connections are compared with the descriptors.
    private var firstPlan: Plan?
    let monitor: WorkerMonitor
    let logWriter: LogWriter
    let logLevel: LogLevelControl
    let traces: TraceExporter
    /// The number of workers that do not listen yet.
    private var startingWorkers = 0
    private var signals: [SignalSource] = []
    private var admin: AdminServer?
    private let startup: Startup
    private let inbox = UVInbox<ControlMessage>()
    let shared: SharedResources
    /// Read again by a reload.
    let source: ConfigSource
    /// What was read last, whether it was good or not.
    var lastRead: RecordedConfig
    let host: DaemonHost
    private var inherited: InheritedSockets
    /// Sockets of a service manager, which stay open when this process ends.
    private var hasInheritedSockets = false
    var notifier: ServiceNotifier?
    var watchdog: ServiceWatchdog?
    var fileWatch: FileWatch<[String: FileStatus?]>?
    /// Runs soon after the start or a reload.
    var pageRelease: Timer?
    private var phase = Phase.starting
    /// How the daemon ends, as far as this is known.
    private var outcome = DaemonEnd()

    private enum Phase {
        case starting, ready, draining, ended
    }

    /// Serves until a signal ends it.
    ///
    /// - Parameter start: called on the control loop, before anything else; if it throws, the start fails
    package static func serve(
        on host: DaemonHost, _ start: (UVLoop) throws -> Startup
    ) throws {
        let descriptorLimit = ProcessDescriptors.raiseLimit()
        var outcome = DaemonEnd()
        let shared = SharedResources(
            names: NameService(),
            hashKey: KeyedHash.Key(SystemRandom.word(), SystemRandom.word()))
        let leftovers = try UVLoop.run(names: shared.names) { loop in
            let startup = try start(loop)
            let logWriter = try LogWriter.start(
                format: startup.plan.process.log.format.format, file: host.logFile)
            let daemon = Daemon(startup, descriptorLimit, loop, logWriter, shared, host)
            daemon.inbox.open(on: loop, for: daemon)
            daemon.onEnd = { outcome = $0 }
            try daemon.startListening()
        }
        outcome.pidFile = host.pidFile
        try outcome.end(leftovers: leftovers)
    }

    /// Called once, when all threads and the demo have been stopped.
    private var onEnd: (DaemonEnd) -> Void = { _ in }

    private init(
        _ startup: Startup, _ descriptorLimit: Int, _ loop: UVLoop, _ logWriter: LogWriter,
        _ shared: SharedResources, _ host: DaemonHost
    ) {
        self.host = host
        inherited = host.inherited
        lastRead = startup.config
        source = startup.source
        self.startup = startup
        self.shared = shared
        config = startup.config
        let plan = startup.plan
        configInstalled = loop.now
        self.descriptorLimit = descriptorLimit
        firstPlan = plan
        let process = plan.process
        self.process = process
        self.loop = loop
        started = loop.now
        reloadStatus = ReloadStatus(loadedAt: loop.unixTime)
        startedAt = loop.unixTime
        reloads.loadedAt = startedAt
        self.logWriter = logWriter
        let log = Log(
            level: process.log.level.level, format: process.log.format.format,
            clock: { loop.unixTime }
        ) { logWriter.post($0) }
        self.log = log
        monitor = WorkerMonitor(loop: loop, log: log)
        traces = TraceExporter(
            loop: loop, log: log, backlog: shared.spans, version: Product.version)
        traces.configure(plan.traces)
        // The workers are not known yet.
        logLevel = LogLevelControl(process.log.level.level, loop: loop, log: log)
        logLevel.onChange = { [unowned self] level in
            for thread in workers { thread.worker.send(.setLogLevel(level)) }
        }
    }

    /// Whether all workers listen and no signal has started the shutdown.
    var isServing: Bool { phase == .ready }

    var processPhase: ProcessPhase {
        switch phase {
        case .starting: .starting
        case .ready: .serving
        case .draining: .draining
        case .ended: .ended
        }
    }

    // MARK: Start

    private func startListening() throws {
        for signal in Signal.allCases {
            signals.append(
                try SignalSource(signal, on: loop) { [weak self] in self?.handle(signal) })
        }
        loop.local.all(listenAddresses, adminAddress)
            .map { [self] listen, admin in try startWorkers(on: listen, admin: admin) }
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

    /// Binds all addresses before the first worker starts, so that an address in use fails the
    /// start with nothing begun.
    private func startWorkers(
        on addresses: [SocketAddress], admin adminAddress: SocketAddress?
    ) throws {
        guard phase == .starting else { return }
        var listeners: [WorkerSockets.Listener] = []
        for (listener, address) in zip(process.listeners, addresses) {
            listeners.append(
                WorkerSockets.Listener(address: address, access: try listener.socket.access()))
        }
        hasInheritedSockets = !inherited.isEmpty
        let sockets = try WorkerSockets(
            binding: listeners, workers: process.workers, inherited: &inherited)
        let socketsByWorker = sockets.byWorker
        self.sockets = consume sockets
        let budget = divideDescriptors()
        if let adminAddress, let plan = process.admin {
            let access = try plan.listen.access()
            admin = try bind(adminAddress) { () throws(IOFailure) in
                try AdminServer(
                    of: self, plan, on: loop, socket(at: adminAddress, access), within: budget)
            }
        }
        try inherited.checkAllTaken()
        startingWorkers = socketsByWorker.count
        for (index, sockets) in socketsByWorker.enumerated() {
            let setup = WorkerSetup(
                index: index, of: socketsByWorker.count, shared: shared, control: inbox,
                log: logWriter)
            let inputs = WorkerThread.Inputs(setup: setup, config: config, sockets: sockets)
            guard let thread = WorkerThread.start(inputs) else { throw StartFailure.threads }
            workers.append(thread)
            monitor.add(thread.worker)
        }
    }

    /// Counts the descriptors that are open before the admin listener and the workers, and divides
    /// the rest.
    private func divideDescriptors() -> DescriptorBudget {
        let open = (ProcessDescriptors.open ?? Self.openTypically) + 1
        let budget = DescriptorBudget(
            limit: descriptorLimit, open: open, workers: process.workers)
        config.descriptors = budget
        if let plan = firstPlan.take() { warnOfReducedConnections(plan) }
        return budget
    }

    /// The number in a process without inherited descriptors, where the system does not report it.
    private static let openTypically = 16

    func warnOfReducedConnections(_ plan: Plan) {
        guard let budget = config.descriptors,
            let connections = plan.reducedConnections(under: budget)
        else { return }
        log.write(.warning, "limits.connections reduced to fit the file descriptors") { line in
            line.add("connections", connections)
            line.add("file_descriptors", budget.limit)
        }
    }

    /// The inherited socket at an address, or one that is bound now.
    private func socket(
        at address: SocketAddress, _ access: SocketFileAccess
    ) throws(IOFailure) -> ListeningSocket {
        if let socket = inherited.take(address) { return socket }
        return try .bound(to: address, access: access)
    }

    /// Binds an address; a failure names it.
    private func bind<Result>(
        _ address: SocketAddress, _ body: () throws(IOFailure) -> Result
    ) throws(StartFailure) -> Result {
        do throws(IOFailure) {
            return try body()
        } catch {
            throw .listen(address, error)
        }
    }

    /// Counts a worker that listens; with the last one the daemon is ready.
    private func recordListeningWorker() {
        startingWorkers -= 1
        guard phase == .starting, startingWorkers == 0, let addresses = sockets?.addresses else {
            return
        }
        let address = zip(addresses, process.listeners).map { address, listener in
            listener.tls == nil ? "\(address)" : "\(address) (TLS)"
        }.joined(separator: ", ")
        phase = .ready
        monitor.startHeartbeats()
        log.write(.info, "listening") { line in
            line.add("address", address)
            if let admin { line.add("admin", "\(admin.address)") }
            line.add("workers", process.workers)
            line.add("config", config.path)
            line.add("version", Product.version)
        }
        log.flush()
        reportReadiness(address)
        if let announcement = startup.announcement {
            logWriter.post(Array(announcement(address, admin.map { "\($0.address)" }).utf8))
        }
    }

    // MARK: Signals

    private func handle(_ signal: Signal) {
        switch signal {
        case .hangUp: reload()
        case .user1: reopenLog()
        case .interrupt, .terminate:
            // A further signal while the last spans are exported.
            phase == .ended ? traces.stop() : drain()
        }
    }

    /// Finishes the requests in flight, then ends. A second signal ends the daemon at once.
    private func drain() {
        guard phase == .ready else { return end(because: nil) }
        phase = .draining
        log.write(.info, "draining")
        log.flush()
        let handOver = hasInheritedSockets ? Self.handOverDelay : .zero
        notifier?.stopping(
            within: process.drain.delay + handOver + process.drain.timeout + Self.endMargin
                + traces.flushLimit + DaemonEnd.flushLimit, "draining")
        for thread in workers { thread.worker.send(.announceDrain) }
        loop.timer(after: process.drain.delay) { [self] in
            // Removes the file of a unix socket first: later clients connect to the next daemon.
            sockets = nil
            guard hasInheritedSockets else { return finishRequests() }
            for thread in workers { thread.worker.send(.stopAccepting) }
            loop.timer(after: handOver) { [self] in finishRequests() }
        }
    }

    /// Between the last accepted connection and the end of idle ones, where the next process gets the
    /// connections that come later: time for a client that has just connected to send its request.
    private static let handOverDelay = Duration.milliseconds(500)

    private func finishRequests() {
        for thread in workers { thread.worker.send(.drain) }
        abandonWorkers(after: process.drain.timeout)
    }

    private func reopenLog() {
        if !logWriter.reopen(log.level) { log.write(.warning, "there is no log file to reopen") }
    }

    /// Joins a worker that has ended, and logs the handles that it left open.
    private func removeWorker(_ index: Int, leftovers: [String]) {
        workers[index].join()
        workers[index].worker.hasEnded = true
        monitor.ended(index)
        outcome.log(leftovers, of: "worker-\(index)", to: log)
        if workers.allSatisfy(\.worker.hasEnded) { end(because: nil) }
    }

    /// Closes all workers at once, and then ends the daemon.
    private func end(because failure: StartFailure?) {
        guard phase != .ended else { return }
        outcome.failure = outcome.failure ?? failure
        let running = workers.map(\.worker).filter { !$0.hasEnded }
        guard running.isEmpty else {
            // Each worker reports its end; after the last report this function is called again.
            phase = .draining
            for worker in running { worker.send(.close) }
            return abandonWorkers(after: .zero)
        }
        finish()
    }

    /// Added to the time that workers have for their end, because closing connections takes a
    /// moment.
    private static let endMargin = Duration.seconds(2)

    /// The control loop's own deadline for the end of all workers: a worker that hangs reads no
    /// message and must not keep the process alive.
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
        // No thread may compile plans while the process exits.
        let reloaded = currentReload?.asVoid() ?? loop.local.value(())
        reloaded.whenSettled { [self] _ in
            traces.close(within: traces.flushLimit).whenSettled { [self] _ in finishProcess() }
        }
    }

    private func finishProcess() {
        if outcome.isClean { log.write(.info, "ended") }
        log.flush()
        outcome.log = log
        outcome.logWriter = logWriter
        onEnd(outcome)
        sockets = nil
        monitor.stop()
        logLevel.stop()
        endServiceReports()
        pageRelease?.cancel()
        admin?.close()
        startup.onEnd()
        signals.removeAll()
        inbox.close()
        loop.stop()
    }
}

extension Daemon: MessageReceiver {
    func receive(_ message: ControlMessage) {
        let worker = message.worker
        switch message.event {
        case .listening: recordListeningWorker()
        case .failed(let failure): end(because: StartFailure(failure))
        case .ended(let leftovers): removeWorker(worker, leftovers: leftovers)
        case .snapshot(let snapshot): monitor.received(snapshot, from: worker)
        case .traced(let requests): traces.receive(requests)
        case .recent(let answer): monitor.recent.received(answer, from: worker)
        }
    }
}
