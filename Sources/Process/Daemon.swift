package import Assembly
import Basics
import Gateway
import HTTP
import Promises
import Reactor
import System
package import UVReactor

/// The gateway process: a control loop on the main thread, which owns the signals and the admin
/// server, one thread for each worker, and one thread that writes the log.
///
/// It connects the parts of the process, each of which has one concern. The inbox of the workers'
/// messages owns it.
package final class Daemon {
    private let logging: ProcessLog
    private let sockets: ListenerSockets
    private let workers: WorkerPool
    private let reloads: ReloadCoordinator
    private let traces: TraceExporter
    private let service: ServiceReports
    private let shutdown: Shutdown
    private var lifecycle = ProcessLifecycle()
    private var signals: ProcessSignals?
    private var admin: AdminServer?

    /// Serves until a signal ends it.
    ///
    /// - Parameter start: called on the control loop, before anything else; if it throws, the start fails
    package static func serve(on host: DaemonHost, _ start: (UVLoop) throws -> Startup) throws {
        let descriptorLimit = ProcessDescriptors.raiseLimit()
        var outcome = DaemonEnd()
        let shared = SharedResources(
            names: NameService(),
            hashKey: KeyedHash.Key(SystemRandom.word(), SystemRandom.word()))
        let leftovers = try UVLoop.run(names: shared.names) { loop in
            let startup = try start(loop)
            let daemon = try Daemon(startup, host, on: loop, shared)
            daemon.shutdown.hooks.ended = { outcome = $0 }
            try daemon.start(startup, host, on: loop, descriptorLimit: descriptorLimit)
        }
        outcome.pidFile = host.pidFile
        try outcome.end(leftovers: leftovers)
    }

    private init(
        _ startup: Startup, _ host: DaemonHost, on loop: UVLoop, _ shared: SharedResources
    ) throws {
        let plan = startup.plan
        let writer = try LogWriter.start(
            format: plan.process.log.format.format, file: host.logFile)
        logging = ProcessLog(plan.process.log, on: loop, writer: writer)
        sockets = ListenerSockets(host.inherited, on: loop)
        workers = WorkerPool(shared, on: loop, logging)
        reloads = ReloadCoordinator(startup, on: loop, log: logging.log, workers: workers)
        traces = TraceExporter(
            loop: loop, log: logging.log, backlog: shared.spans, version: Product.version)
        traces.configure(plan.traces)
        service = ServiceReports(host, startup, on: loop, logging, workers, reloads)
        shutdown = Shutdown(on: loop, logging, sockets, workers, reloads, traces, service)
        connect(startup)
        workers.open(on: loop, for: self)
    }

    private func connect(_ startup: Startup) {
        logging.level.onChange = { [weak workers] in
            workers?.send(.setLogLevel($0))
        }
        reloads.hooks.isServing = { [weak self] in self?.lifecycle.phase == .serving }
        reloads.hooks.begin = { [weak service] in service?.beginReload() }
        reloads.hooks.install = { [weak self] in self?.apply($0) }
        reloads.hooks.end = { [weak service] in service?.endReload() }
        shutdown.hooks.late = { [weak self] in self?.handle(.abandoned) }
        shutdown.hooks.close = { [weak self] in
            self?.admin?.close()
            startup.onEnd()
            self?.signals?.close()
        }
    }

    // MARK: Start

    private func start(
        _ startup: Startup, _ host: DaemonHost, on loop: UVLoop, descriptorLimit: Int
    ) throws {
        signals = try ProcessSignals(on: loop) { [weak self] in self?.handle($0) }
        sockets.resolve(startup.plan.process)
            .map { [self] addresses in
                guard lifecycle.phase == .starting else { return }
                let process = AdministeredDaemon(
                    on: loop, logging, workers, reloads, traces, build: host.build,
                    descriptorLimit: descriptorLimit
                ) { [weak self] in self?.lifecycle.phase ?? .ended }
                try startWorkers(startup.plan, at: addresses, on: loop, process)
            }
            .catch { [self] error in fail(StartFailure(error)) }
    }

    /// Binds all addresses before the first worker starts, so that an address in use fails the
    /// start with nothing begun.
    private func startWorkers(
        _ plan: Plan, at addresses: ListenerSockets.Addresses, on loop: UVLoop,
        _ process: AdministeredDaemon
    ) throws {
        let socketsByWorker = try sockets.bind(plan.process, at: addresses.listeners)
        let budget = process.descriptorBudget(workers: plan.process.workers)
        reloads.fit(plan, to: budget)
        if let address = addresses.admin, let plan = plan.process.admin {
            let socket = try sockets.bindAdmin(plan.listen, at: address)
            admin = try AdminServer(of: process, plan, on: loop, socket, within: budget)
        }
        try sockets.checkAllTaken()
        try workers.start(reloads.current.recorded, on: socketsByWorker)
    }

    /// All workers listen.
    private func reportReadiness() {
        let process = reloads.current.process
        let address = zip(sockets.addresses, process.listeners).map { address, listener in
            listener.tls == nil ? "\(address)" : "\(address) (TLS)"
        }.joined(separator: ", ")
        workers.monitor.startHeartbeats()
        logging.log.write(.info, "listening") { line in
            line.add("address", address)
            if let admin { line.add("admin", "\(admin.address)") }
            line.add("workers", process.workers)
            line.add("config", reloads.current.recorded.path)
            line.add("version", Product.version)
        }
        logging.log.flush()
        service.start(address, admin: admin.map { "\($0.address)" })
        reloads.memory.releaseSoon()
    }

    // MARK: Reload

    /// A reload: what of the new configuration concerns the process.
    private func apply(_ plan: Plan) {
        logging.level.configure(plan.process.log.level.level)
        admin?.process.forgetPlan()
        traces.configure(plan.traces)
    }

    // MARK: End

    private func handle(_ signal: Signal) {
        switch signal {
        case .hangUp: reloads.reload()
        case .user1: logging.reopen()
        case .interrupt, .terminate: handle(.stopRequested)
        }
    }

    private func fail(_ failure: StartFailure) {
        if lifecycle.phase != .ended { shutdown.record(failure) }
        handle(.failed)
    }

    private func handle(_ event: ProcessLifecycle.Event) {
        switch lifecycle.handle(event, runningWorkers: workers.running.count) {
        case .reportReadiness: reportReadiness()
        case .drain: shutdown.drain()
        case .closeWorkers: shutdown.closeWorkers()
        case .abandonWorkers: shutdown.abandonWorkers()
        case .finish: shutdown.finish()
        case .stopExport: traces.stop()
        case nil: break
        }
    }
}

extension Daemon: MessageReceiver {
    package func receive(_ message: ControlMessage) {
        let worker = message.worker
        switch message.event {
        case .listening: if workers.recordListening() { handle(.allListen) }
        case .failed(let failure): fail(StartFailure(failure))
        case .ended(let leftovers):
            let isLast = workers.recordEnd(of: worker)
            shutdown.record(leftovers, of: worker)
            if isLast { handle(.allEnded) }
        case .snapshot(let snapshot): workers.monitor.received(snapshot, from: worker)
        case .traced(let requests): traces.receive(requests)
        case .recent(let answer): workers.monitor.recent.received(answer, from: worker)
        }
    }
}
