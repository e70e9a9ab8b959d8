/// What the daemon gets from and owes to the system that started it: options of `serve` and variables of
/// a service manager.
package struct DaemonHost {
    let environment: ServiceEnvironment
    let inherited: InheritedSockets
    /// Removed when the process ends.
    let pidFile: PIDFile?
    let logFile: LogFile?
    /// The process that the operator started waits for this one.
    let background: BackgroundProcess?
    /// Whether a change of the configuration's files is a reload.
    let watchesFiles: Bool
    /// The facts of the program's build, the version first.
    let build: [(name: String, value: String)]

    package init(
        environment: ServiceEnvironment, inherited: InheritedSockets, pidFile: PIDFile?,
        logFile: LogFile?, background: BackgroundProcess?, watchesFiles: Bool,
        build: [(name: String, value: String)]
    ) {
        self.environment = environment
        self.inherited = inherited
        self.pidFile = pidFile
        self.logFile = logFile
        self.background = background
        self.watchesFiles = watchesFiles
        self.build = build
    }
}
