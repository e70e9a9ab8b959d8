import ArgumentParser
import Gateway
import UVReactor

/// `tributary check CONFIG`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say everything that is wrong with a configuration, or what it means.",
        discussion: """
            Each problem stands on a line of its own: file:line:column: error: text.

            EXAMPLES
              tributary check my.yaml
              tributary check --strict my.yaml     a warning is a failure too (exit status 2)
            """)

    @Flag(help: "Fail on warnings.")
    var strict = false

    @Argument(help: "The configuration, YAML or JSON.")
    var config: String

    func run() throws {
        let source = ConfigSource(path: config)
        let (plan, problems) = try source.load()
        StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        guard let plan else { throw ExitStatus.configurationErrors }
        if strict, problems.warningCount > 0 { throw ExitStatus.strictWarnings }
        StandardStreams.printOut(PlanPrinter(plan).summary)
    }
}
