import ArgumentParser
import System

/// The command line. Each command has its own file.
@main
struct Tributary: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tributary",
        abstract: "HTTP aggregation gateway: one request in, many out, one response back.",
        discussion: """
            EXAMPLES
              tributary serve                      run the demo with its own backends
              tributary check my.yaml              list all problems, or the endpoints
              tributary explain my.yaml GET /home  show the calls that a request makes
              tributary serve my.yaml              run it (SIGHUP reloads, SIGTERM drains)
              tributary health                     check whether the local gateway is ready

            EXIT STATUS
              0   success
              1   configuration errors, refused request or token, gateway not ready,
                  expectations of simulate that are not met
              2   warnings, with --strict
              3   import reported at least one warning
              64  wrong usage
              66  a file does not exist or cannot be read
              69  an address or the pid file is in use
              70  internal error
              73  the pid file or the log file cannot be written
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, CheckCommand.self, ExplainCommand.self, SimulateCommand.self,
            SchemaCommand.self, OpenAPICommand.self, ImportCommand.self, DemoBackendsCommand.self,
            HealthCommand.self, VersionCommand.self, KeyCommand.self, TokenCommand.self,
        ])

    /// Runs the command.
    static func main() {
        StandardStreams.openClosed()
        ProgramEnd.run(Self.self) {
            if let options = ServeOptions(simple: CommandLine.arguments.dropFirst()) {
                return try options.serve()
            }
            try refuseUnknownCommand()
            var command = try parsedQuickly() ?? parseAsRoot()
            do {
                try command.run()
            } catch let error as ValidationError {
                end(because: error, of: type(of: command))
            }
        }
    }

    /// The commands of services and health checks, whose start should take little time.
    private static let quickCommands: [any ParsableCommand.Type] = [
        ServeCommand.self, HealthCommand.self,
    ]

    /// The command line without the definitions of the other commands, if it is a valid one of
    /// `quickCommands`. Messages need `parseAsRoot`, which knows the names of all commands.
    private static func parsedQuickly() -> (any ParsableCommand)? {
        let arguments = CommandLine.arguments.dropFirst()
        let command = quickCommands.first { $0.configuration.commandName == arguments.first }
        return try? command?.parse(Array(arguments.dropFirst()))
    }
}
