import Glibc
import Process
import System

/// The options of `tributary serve`.
struct ServeOptions: Equatable {
    /// The file of the configuration, or `-`; nil for the demo.
    var config: String?
    var watch = false
    var daemonize = false
    var pidFile: String?
    var logFile: String?

    /// Serves until a signal ends it. Throws `StartFailure` or `ServiceFailure` if the start fails.
    func serve() throws {
        CrashReport.install()
        // Before the configuration is read, which has secrets.
        if Environment.variable(Self.dumpVariable) != "1" { CoreDumps.forbid() }
        // Standard input belongs to the process that the operator started.
        let source = try config.map { try ConfigSource(argument: $0) }
        // The variables name the id of that process, too.
        let environment = ServiceEnvironment(process: getpid(), variable: Environment.variable)
        let inherited = try InheritedSockets(environment)
        guard daemonize else { return try serve(source, environment, inherited, in: nil) }
        try BackgroundProcess.start(keeping: environment.socketNames.count) { process in
            ProgramEnd.run(ServeCommand.self) {
                try serve(source, environment, inherited, in: process)
            }
        }
    }

    /// The environment variable that permits core dumps, with the value 1.
    private static let dumpVariable = "TRIBUTARY_CORE_DUMPS"

    private func serve(
        _ source: ConfigSource?, _ environment: ServiceEnvironment, _ inherited: InheritedSockets,
        in background: BackgroundProcess?
    ) throws {
        let pidFile = try self.pidFile.map { try PIDFile($0) }
        defer { pidFile?.remove() }
        let logFile = self.logFile.map { LogFile(path: $0, takesErrors: daemonize) }
        try logFile?.open()
        try Daemon.serve(
            on: DaemonHost(
                environment: environment, inherited: inherited, pidFile: pidFile,
                logFile: logFile, background: background, watchesFiles: watch,
                build: BuildFacts().facts)
        ) { loop in
            let demo = source == nil ? try Demo(on: loop) : nil
            return try Self.startup(source ?? ConfigSource(demo: demo?.variables ?? [:]), demo)
        }
    }

    /// The demo has instructions for its user, and servers of its own.
    private static func startup(_ source: ConfigSource, _ demo: Demo?) throws -> Startup {
        let (config, _, plan) = try source.checked()
        guard let demo else { return Startup(source, config, plan) }
        return Startup(
            source, config, plan, announcement: DemoConfig.announcement, onEnd: demo.close)
    }
}

extension ServeOptions {
    /// The options of `serve` or `serve CONFIG`, the forms that containers use; nil for any other command line.
    ///
    /// The general parser inspects the types of all arguments at run time. For these two forms that was a third
    /// of all instructions of a start.
    ///
    /// - Parameter arguments: without the name of the program
    init?(simple arguments: ArraySlice<String>) {
        guard arguments.first == "serve", arguments.count <= 2 else { return nil }
        let config = arguments.dropFirst().first
        if let config, config.hasPrefix("-"), config != "-" { return nil }
        self.init(config: config)
    }
}
