import Assembly
import Basics
import Gateway
import GatewayConfig
import Promises
import System
import UVReactor

/// The reload of the configuration.
extension Daemon {
    /// Reads the configuration again and installs it on all workers; if it has an error, nothing
    /// changes.
    ///
    /// What is requested during a reload is one further reload, after it.
    @discardableResult
    func reload() -> LocalPromise<ReloadOutcome> {
        if let nextReload { return nextReload }
        guard let currentReload else { return beginReload() }
        let next = currentReload.then { [self] _ in
            nextReload = nil
            return beginReload()
        }
        // It does not depend on who requested it.
        next.cauterize()
        nextReload = next
        return next
    }

    private func beginReload() -> LocalPromise<ReloadOutcome> {
        guard isServing else { return reloadConfiguration() }
        notifier?.reloading(at: MonotonicClock.microseconds)
        reloadProblems = []
        let outcome = reloadConfiguration().map { [self] outcome in
            currentReload = nil
            recordReload(outcome)
            hasFailedReload = if case .done = outcome { false } else { true }
            notifier?.ready(serviceStatus)
            releaseUnusedPages()
            return outcome
        }
        outcome.cauterize()
        currentReload = outcome
        return outcome
    }

    /// Keeps the result for the admin pages and the metrics.
    private func recordReload(_ outcome: ReloadOutcome) {
        let result: ReloadStatus.Result
        switch outcome {
        case .done:
            result = .succeeded
            reloads.succeeded += 1
        case .failed:
            result = .failed
            reloads.failed += 1
        case .refused(let workers):
            reloads.failed += 1
            result = .refused
            reloadProblems = [WorkerMonitor.silence(of: workers)]
        case .impossible: return
        }
        let now = loop.unixTime
        reloads.isLastSuccessful = if case .succeeded = result { true } else { false }
        if reloads.isLastSuccessful {
            reloadStatus.loadedAt = now
            reloads.loadedAt = now
        }
        reloadStatus.last = ReloadStatus.Reload(result, endedAt: now, problems: reloadProblems)
    }

    private func reloadConfiguration() -> LocalPromise<ReloadOutcome> {
        let local = loop.local
        guard isServing, !config.isDemo else {
            log.write(.warning, "nothing to reload")
            return local.value(.impossible)
        }
        let silentWorkers = monitor.workersSilent(for: WorkerMonitor.readyLimit)
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
        recorded.descriptors = config.descriptors
        return compile(recorded).map { [self] plans in install(recorded, plan, plans) }
    }

    /// The plan of each worker; nil for one that cannot be compiled.
    private func compile(_ config: RecordedConfig) -> LocalPromise<[CompiledPlan?]> {
        let count = workers.count
        return Promise(on: planCompiler) {
            (0..<count).map { _ in CompiledPlan(config, workers: count) }
        }.on(loop.local)
    }

    private func install(
        _ recorded: RecordedConfig, _ plan: Plan, _ plans: [CompiledPlan?]
    ) -> ReloadOutcome {
        guard isServing else {
            log.write(.warning, "nothing to reload")
            return .impossible
        }
        warnOfSettingsThatNeedRestart(plan.process)
        process = process.applyingReload(of: plan.process)
        logLevel.configure(process.log.level.level)
        config = recorded
        configInstalled = loop.now
        planInspector.forgetPlan()
        traces.configure(plan.traces)
        warnOfReducedConnections(plan)
        for (thread, plan) in zip(workers, plans) {
            guard let plan, thread.worker.send(.install(plan)) else {
                logFailedInstallation(thread.worker.index)
                continue
            }
        }
        monitor.configurationSent()
        log.write(.info, "configuration reloaded")
        log.flush()
        return .done
    }

    /// Logs that a worker has ended, or that its plan could not be compiled again.
    private func logFailedInstallation(_ worker: Int) {
        log.write(.error, "configuration not installed") { $0.add("worker", worker) }
    }

    /// The configuration as it is now; nil if it has an error, which is then logged.
    private func readConfiguration() -> (RecordedConfig, Plan)? {
        do {
            let (recorded, _, plan, problems) = try source.record()
            lastRead = recorded
            reloadProblems = problems.sorted.map(\.description)
            for problem in problems.sorted {
                log.write(problem.severity == .error ? .error : .warning, "configuration") { line in
                    line.add("problem", "\(problem)")
                }
            }
            return plan.map { (recorded, $0) }
        } catch {
            let line = StartFailure(error).line
            reloadProblems = [line]
            log.write(.error, "configuration") { $0.add("problem", line) }
            return nil
        }
    }

    private func warnOfSettingsThatNeedRestart(_ new: ProcessPlan) {
        let changes: [(StaticString, Bool)] = [
            ("listen", new.listeners.map(\.socket) != process.listeners.map(\.socket)),
            ("admin", new.admin != process.admin),
            ("workers", new.workers != process.workers),
            ("log.format", new.log.format != process.log.format),
        ]
        let keys = changes.filter(\.1).map(\.0)
        reloadStatus.keysThatNeedRestart = keys.map(\.description)
        for key in keys {
            log.write(.warning, "a change that needs a restart") { $0.add(literal: "key", key) }
        }
    }
}
