import Assembly
import Promises

/// The process that the admin pages describe: the daemon, or a process of a test. It runs on the
/// control loop.
protocol AdministeredProcess: AnyObject {
    /// Whether all workers listen, and the process neither drains nor ends.
    var isServing: Bool { get }

    var monitor: WorkerMonitor { get }

    var facts: ProcessFacts { get }

    var identity: ProcessIdentity { get }

    var logLevel: LogLevelControl { get }

    /// For the diagnostic pages.
    var diagnostics: ProcessDiagnostics { get }

    /// Reads the configuration again and installs it on all workers; if it has an error, nothing
    /// changes. The promise settles when it was sent to all workers.
    func reload() -> LocalPromise<ReloadOutcome>
}

/// The result of a reload.
enum ReloadOutcome: Sendable {
    case done
    /// The last good configuration stays in use; the log has the reason.
    case failed
    /// These workers do not answer and could not install it, so no worker receives it.
    case refused(silentWorkers: [Int])
    /// There is no file to read, or the process does not serve.
    case impossible
}

extension WorkerMonitor {
    /// `worker 0 does not answer`
    static func silence(of workers: [Int]) -> String {
        let list = workers.map { "\($0)" }.joined(separator: ", ")
        return workers.count == 1
            ? "worker \(list) does not answer" : "workers \(list) do not answer"
    }
}
