import Assembly
import Basics
import Gateway
import Promises
import Reactor

/// The configuration of the process: keeps the one in use, and reads another one at each reload, one
/// reload at a time.
///
/// Owned by the daemon, on the control loop.
final class ReloadCoordinator {
    /// The parts of the process that a reload concerns.
    struct Hooks {
        /// Whether a reload is possible: all workers listen and the process does not end.
        var isServing: () -> Bool = { false }
        /// A reload begins.
        var begin: () -> Void = {}
        /// A new configuration is in use; the workers get it next.
        var install: (Plan) -> Void = { _ in }
        /// A reload has ended, whatever its result.
        var end: () -> Void = {}
    }

    private(set) var current: InstalledConfig
    private(set) var history: ReloadHistory
    /// What was read last, whether it was good or not.
    private(set) var lastRead: RecordedConfig
    var hooks = Hooks()
    let memory: IdleMemory

    private let source: ConfigSource
    private let loop: any Loop
    private let log: Log
    private let workers: WorkerPool
    /// Compiles the plans of a new configuration: one for each worker.
    private let compiler = BlockingPool(threads: 1)
    /// The reload that is in progress, and the one that follows it.
    private var running: LocalPromise<ReloadOutcome>?
    private var next: LocalPromise<ReloadOutcome>?

    /// - Parameters:
    ///   - log: of the control loop
    ///   - workers: receive the plans
    init(_ startup: Startup, on loop: any Loop, log: Log, workers: WorkerPool) {
        source = startup.source
        lastRead = startup.config
        current = InstalledConfig(startup.config, startup.plan.process, at: loop.now)
        history = ReloadHistory(startedAt: loop.unixTime)
        self.loop = loop
        self.log = log
        self.workers = workers
        memory = IdleMemory(on: loop)
    }

    /// The files of the configuration as they are now.
    var files: ConfigFiles { source.files }

    /// Identifies the files of the configuration in use.
    var digest: ConfigDigest { current.digest }

    /// Divides the file descriptors of the process among the connections of a plan, which is in use, and
    /// of later ones.
    func fit(_ plan: Plan, to budget: DescriptorBudget) {
        current.descriptors = budget
        warnOfReducedConnections(plan)
    }

    /// Settles when no reload is in progress, after which no thread compiles plans.
    var whenIdle: LocalPromise<Void> { running?.asVoid() ?? loop.local.value(()) }

    // MARK: Order

    /// Reads the configuration again and installs it on all workers; if it has an error, nothing
    /// changes.
    ///
    /// What is requested during a reload is one further reload, after it.
    @discardableResult
    func reload() -> LocalPromise<ReloadOutcome> {
        if let next { return next }
        guard let running else { return beginReload() }
        let further = running.then { [self] _ in
            next = nil
            return beginReload()
        }
        // It does not depend on who requested it.
        further.cauterize()
        next = further
        return further
    }

    private func beginReload() -> LocalPromise<ReloadOutcome> {
        guard hooks.isServing() else { return reloadConfiguration() }
        hooks.begin()
        history.begin()
        let outcome = reloadConfiguration().map { [self] outcome in
            running = nil
            history.record(outcome, at: loop.unixTime)
            hooks.end()
            memory.releaseSoon()
            return outcome
        }
        outcome.cauterize()
        running = outcome
        return outcome
    }

    // MARK: One reload

    private func reloadConfiguration() -> LocalPromise<ReloadOutcome> {
        let local = loop.local
        guard hooks.isServing(), !current.recorded.isDemo else {
            log.write(.warning, "nothing to reload")
            return local.value(.impossible)
        }
        let silentWorkers = workers.monitor.workersSilent(for: WorkerMonitor.readyLimit)
        guard silentWorkers.isEmpty else {
            log.write(.error, "reload failed; the last good configuration stays") {
                $0.add("problem", WorkerMonitor.silence(of: silentWorkers))
            }
            return local.value(.refused(silentWorkers: silentWorkers))
        }
        guard let (read, plan) = readConfiguration() else {
            log.write(.error, "reload failed; the last good configuration stays")
            return local.value(.failed)
        }
        var recorded = read
        recorded.descriptors = current.descriptors
        return compile(recorded).map { [self] plans in install(recorded, plan, plans) }
    }

    /// The configuration as it is now; nil if it has an error, which is then logged.
    private func readConfiguration() -> (RecordedConfig, Plan)? {
        do {
            let (recorded, _, plan, problems) = try source.record()
            lastRead = recorded
            history.problems = problems.sorted.map(\.description)
            for problem in problems.sorted {
                log.write(problem.severity == .error ? .error : .warning, "configuration") { line in
                    line.add("problem", "\(problem)")
                }
            }
            return plan.map { (recorded, $0) }
        } catch {
            let line = StartFailure(error).line
            history.problems = [line]
            log.write(.error, "configuration") { $0.add("problem", line) }
            return nil
        }
    }

    /// The plan of each worker; nil for one that cannot be compiled.
    private func compile(_ config: RecordedConfig) -> LocalPromise<[CompiledPlan?]> {
        let count = workers.count
        return Promise(on: compiler) {
            (0..<count).map { _ in CompiledPlan(config, workers: count) }
        }.on(loop.local)
    }

    private func install(
        _ recorded: RecordedConfig, _ plan: Plan, _ plans: [CompiledPlan?]
    ) -> ReloadOutcome {
        guard hooks.isServing() else {
            log.write(.warning, "nothing to reload")
            return .impossible
        }
        warnOfSettingsThatNeedRestart(plan.process)
        current.replace(with: recorded, plan.process, at: loop.now)
        hooks.install(plan)
        warnOfReducedConnections(plan)
        workers.install(plans)
        log.write(.info, "configuration reloaded")
        log.flush()
        return .done
    }

    // MARK: Warnings

    private func warnOfSettingsThatNeedRestart(_ new: ProcessPlan) {
        let process = current.process
        let changes: [(StaticString, Bool)] = [
            ("listen", new.listeners.map(\.socket) != process.listeners.map(\.socket)),
            ("admin", new.admin != process.admin),
            ("workers", new.workers != process.workers),
            ("log.format", new.log.format != process.log.format),
        ]
        let keys = changes.filter(\.1).map(\.0)
        history.noteRestart(for: keys.map(\.description))
        for key in keys {
            log.write(.warning, "a change that needs a restart") { $0.add(literal: "key", key) }
        }
    }

    private func warnOfReducedConnections(_ plan: Plan) {
        guard let budget = current.descriptors,
            let connections = plan.reducedConnections(under: budget)
        else { return }
        log.write(.warning, "limits.connections reduced to fit the file descriptors") { line in
            line.add("connections", connections)
            line.add("file_descriptors", budget.limit)
        }
    }
}
