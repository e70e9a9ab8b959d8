import ArgumentParser

/// `tributary serve [CONFIG]`
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway with a configuration, or with the demo if none is given.",
        discussion: """
            SIGTERM and SIGINT drain: the gateway finishes the requests in flight, accepts no new \
            ones and exits with status 0. SIGHUP reloads the configuration; if it has errors, the \
            last good one stays in use. \
            SIGUSR1 reopens the log file. Under systemd the gateway reports readiness, reloads and the \
            watchdog, and takes over the sockets of a socket unit.

            EXAMPLES
              tributary serve                       run the demo on http://127.0.0.1:8080
              tributary serve my.yaml
              tributary serve --watch my.yaml       reload when a file changes
              USERS_KEY=k tributary serve my.yaml   the file contains ${USERS_KEY}
              generate | tributary serve -          read it from standard input
              tributary serve --daemonize --pid-file /run/tributary.pid \\
                --log-file /var/log/tributary.log my.yaml
            """)

    @Argument(
        help: """
            The configuration, YAML or JSON; - reads standard input. Default: the demo with its own \
            backends.
            """,
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String?

    @Flag(help: "Reload when a file of the configuration changes.")
    var watch = false

    @Flag(help: "Serve in the background; returns when it serves, or with its exit status.")
    var daemonize = false

    @Option(
        help: "Write the process id to this file; fails if another process holds it.",
        completion: .file())
    var pidFile: String?

    @Option(
        help: "Append the log to this file instead of standard output; SIGUSR1 reopens it.",
        completion: .file())
    var logFile: String?

    func validate() throws {
        if watch, config == nil || config == "-" {
            throw ValidationError("--watch needs the file of a configuration")
        }
    }

    /// The options that the parser has read.
    var options: ServeOptions {
        ServeOptions(
            config: config, watch: watch, daemonize: daemonize, pidFile: pidFile, logFile: logFile)
    }

    func run() throws { try options.serve() }
}
