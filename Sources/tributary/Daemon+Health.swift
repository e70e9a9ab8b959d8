import Assembly
import Promises

/// What the admin pages read of the daemon: its health by the workers' heartbeats, and reports.
extension Daemon {
    /// The answer to a probe.
    enum Health {
        case good
        /// Starting, or draining.
        case notServing
        case workersSilent([Int])
    }

    /// Whether the process can go on; no as long as a worker hangs for good.
    var liveness: Health { health(silentFor: WorkerMonitor.liveLimit) }

    /// Whether clients are welcome.
    var readiness: Health {
        isServing ? health(silentFor: WorkerMonitor.readyLimit) : .notServing
    }

    private func health(silentFor limit: Duration) -> Health {
        let workers = monitor.workersSilent(for: limit)
        return workers.isEmpty ? .good : .workersSilent(workers)
    }

    /// `worker 0 does not answer`
    static func silence(of workers: [Int]) -> String {
        let list = workers.map { "\($0)" }.joined(separator: ", ")
        return workers.count == 1
            ? "worker \(list) does not answer" : "workers \(list) do not answer"
    }
}
