import Promises

/// The process whose pages the admin server shows: the daemon, or one of a test. On the control loop.
package protocol AdministeredProcess: AnyObject {
    /// Whether it serves: all workers listen, and it neither drains nor ends.
    var isServing: Bool { get }

    var monitor: WorkerMonitor { get }

    var facts: ProcessFacts { get }

    /// Reads the configuration again: all of it is installed, or nothing of it.
    func reload() -> ReloadOutcome
}

/// Numbers of a process that no worker counts.
package struct ProcessFacts: Sendable {
    package let version: String
    package let reloads: MetricsPage.Reloads
    /// Since the process began.
    package let logLinesDropped: Int
    package let descriptors: MetricsPage.Descriptors

    package init(
        version: String, reloads: MetricsPage.Reloads, logLinesDropped: Int,
        descriptors: MetricsPage.Descriptors
    ) {
        self.version = version
        self.reloads = reloads
        self.logLinesDropped = logLinesDropped
        self.descriptors = descriptors
    }
}

/// The result of a reload.
package enum ReloadOutcome: Sendable {
    case done
    /// The last good configuration stays; the log has the reason.
    case failed
    /// These workers hang and would not install it, so no worker gets it.
    case refused(silentWorkers: [Int])
    /// There is nothing to read, or the process does not serve.
    case impossible
}

/// The answer to a probe.
enum ProcessHealth {
    case good
    /// Starting, draining or ending.
    case notServing
    case workersSilent([Int])
}

extension AdministeredProcess {
    /// Whether the process can go on; not while a worker hangs for so long.
    var liveness: ProcessHealth { health(silentFor: WorkerMonitor.liveLimit) }

    /// Whether clients are welcome.
    var readiness: ProcessHealth {
        isServing ? health(silentFor: WorkerMonitor.readyLimit) : .notServing
    }

    private func health(silentFor limit: Duration) -> ProcessHealth {
        let workers = monitor.workersSilent(for: limit)
        return workers.isEmpty ? .good : .workersSilent(workers)
    }
}

extension WorkerMonitor {
    /// `worker 0 does not answer`
    package static func silence(of workers: [Int]) -> String {
        let list = workers.map { "\($0)" }.joined(separator: ", ")
        return workers.count == 1
            ? "worker \(list) does not answer" : "workers \(list) do not answer"
    }
}
