import ArgumentParser
import Gateway
import System

/// Usage errors that the parser does not find, or whose command it does not know.
extension Tributary {
    /// The parser would only report an unexpected argument.
    static func refuseUnknownCommand() throws {
        let arguments = CommandLine.arguments.dropFirst()
        var commands = configuration.subcommands
        for (index, name) in arguments.enumerated() {
            guard !commands.isEmpty, !name.hasPrefix("-"), name != "help" else { return }
            if let next = commands.first(where: { $0.configuration.commandName == name }) {
                commands = next.configuration.subcommands
                continue
            }
            let names = commands.compactMap { $0.configuration.commandName }
            let written = arguments.prefix(index + 1).joined(separator: " ")
            throw ValidationError(
                "unknown command '\(written)'\(Suggestion.hint(for: name, among: names))"
                    + " (commands: \(names.joined(separator: ", ")))")
        }
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
