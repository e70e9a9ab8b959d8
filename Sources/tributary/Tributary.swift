import ArgumentParser

/// The command line: one file for each command.
@main
struct Tributary: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tributary",
        abstract: "One HTTP request in, many out, one answer back.",
        discussion: """
            EXAMPLES
              tributary serve                      the demo, with backends of its own
              tributary check my.yaml              what is wrong with it, or what it means
              tributary explain my.yaml GET /home  what a request would do
              tributary serve my.yaml              serve it (SIGHUP reloads, SIGTERM drains)
              tributary health                     is the one on this machine ready?

            EXIT STATUS
              0 fine, 1 configuration errors, 2 warnings with --strict, 64 wrong usage,
              66 no such file, 69 address in use, 70 a mistake of ours
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, CheckCommand.self, ExplainCommand.self, SimulateCommand.self,
            SchemaCommand.self, OpenAPICommand.self, ImportCommand.self, DemoBackendsCommand.self,
            HealthCommand.self, VersionCommand.self,
        ])

    /// The line and the exit status of whatever goes wrong.
    static func main() {
        StandardStreams.openClosed()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let code as ExitCode {
            exit(withError: code)
        } catch let failure as StartFailure {
            end(because: failure)
        } catch let error where [.success, .validationFailure].contains(exitCode(for: error)) {
            // Help that was asked for, or wrong usage.
            exit(withError: error)
        } catch {
            end(because: .internalError("\(error)"))
        }
    }

    private static func end(because failure: StartFailure) -> Never {
        StandardStreams.printLastError("tributary: \(failure.line)\n")
        exit(withError: failure.status)
    }
}
