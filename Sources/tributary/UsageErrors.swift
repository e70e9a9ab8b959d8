import ArgumentParser
import System

/// Usage errors that the parser does not find, or whose command it does not know.
extension Tributary {
    /// The parser would only report an unexpected argument.
    static func refuseUnknownCommand() throws {
        guard let name = CommandLine.arguments.dropFirst().first, !name.hasPrefix("-") else {
            return
        }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard name != "help", !names.contains(name) else { return }
        throw ValidationError(
            "unknown command '\(name)' (commands: \(names.joined(separator: ", ")))")
    }

    /// Prints an error that a command found in its arguments, with the usage of the command.
    static func end(
        because error: ValidationError, of command: any ParsableCommand.Type
    ) -> Never {
        let usage = usageString(for: command)
        let name = usage.prefix { $0 != "[" && $0 != "<" }
        StandardStreams.printLastError(
            "Error: \(error.message)\nUsage: \(usage)\n  See '\(name)--help' for more information.\n"
        )
        exit(withError: ExitCode.validationFailure)
    }
}
