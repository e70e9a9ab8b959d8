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
