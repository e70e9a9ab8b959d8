import ArgumentParser

/// `tributary serve [CONFIG]`
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway with a configuration, or with the demo if none is given.",
        discussion: """
            SIGTERM and SIGINT drain: the gateway finishes the requests in flight, accepts no new
            ones and exits with status 0. SIGHUP reloads the configuration; if it has errors, the
            last good one stays in use.

            EXAMPLES
              tributary serve                            run the demo on http://127.0.0.1:8080
              tributary serve my.yaml
              USERS_KEY=k tributary serve my.yaml        the file contains ${USERS_KEY}
              generate | tributary serve -               read it from standard input
            """)

    @Argument(
        help: """
            The configuration, YAML or JSON; - reads standard input. Default: the demo with its own \
            backends.
            """)
    var config: String?

    func run() throws {
        try Daemon.serve(try config.map { try ConfigSource(argument: $0) })
    }
}
