import ArgumentParser

/// `tributary serve [CONFIG]`
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a configuration, or the demo when there is none.",
        discussion: """
            SIGTERM and SIGINT finish the requests in flight and end with status 0. SIGHUP reads the
            configuration again; a bad file keeps the last good one.

            EXAMPLES
              tributary serve                            the demo on http://127.0.0.1:8080
              tributary serve my.yaml
              USERS_KEY=k tributary serve my.yaml        ${USERS_KEY} in the file
              generate | tributary serve -               from standard input
            """)

    @Argument(
        help: """
            The configuration, YAML or JSON; - is standard input. Default: the demo, with backends \
            of its own.
            """)
    var config: String?

    func run() throws {
        try Daemon.run(try config.map { try ConfigSource(argument: $0) })
    }
}
