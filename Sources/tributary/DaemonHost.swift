/// What the daemon gets from and owes to the system that started it: options of `serve` and variables of
/// a service manager.
struct DaemonHost {
    let environment: ServiceEnvironment
    let inherited: InheritedSockets
    /// Removed when the process ends.
    let pidFile: PIDFile?
    let logFile: LogFile?
    /// The process that the operator started waits for this one.
    let background: BackgroundProcess?
    /// Whether a change of the configuration's files is a reload.
    let watchesFiles: Bool
}
