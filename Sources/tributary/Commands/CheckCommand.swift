import ArgumentParser
import Assembly
import Gateway
import Process
import System

/// `tributary check CONFIG`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a configuration: list all problems, or summarize the endpoints.",
        discussion: """
            Prints each problem on its own line, as file:line:column: error: text.

            EXAMPLES
              tributary check my.yaml
              tributary check --strict my.yaml       fail on warnings too (exit status 2)
              tributary check --format json my.yaml  write the problems as JSON
              tributary check --replicas 3 my.yaml   add up the limits of three replicas
              generate | tributary check -           read standard input
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Flag(help: "Treat warnings as errors (exit status 2).")
    var strict = false

    @Option(help: "Output format: text or json.")
    var format = Format.text

    @Option(help: "Also print the sum of each limit over this many replicas.")
    var replicas: Int?

    @Argument(
        help: "The configuration, YAML or JSON; - reads standard input.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String

    func validate() throws {
        let range = ReplicaReport.replicas
        if let replicas, !range.contains(replicas) {
            throw ValidationError(
                "--replicas is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        if replicas != nil, format == .json {
            throw ValidationError("--replicas prints text only")
        }
    }

    func run() throws {
        let (_, _, plan, problems) = try record()
        switch format {
        case .text: StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        case .json: StandardStreams.printOut(problems.json)
        }
        guard let plan else { throw ExitStatus.configurationErrors }
        if strict, problems.warningCount > 0 { throw ExitStatus.strictWarnings }
        guard format == .text else { return }
        StandardStreams.printOut(PlanPrinter(plan).summary)
        if plan.process.admin != nil { StandardStreams.printOut(SeriesBound(plan).line + "\n") }
        if let replicas {
            let lines = ReplicaReport(plan, replicas: replicas).lines
            StandardStreams.printOut(lines.map { $0 + "\n" }.joined())
        }
    }

    /// With `--format json` every failure is written as JSON, also if the configuration cannot be
    /// read.
    private func record() throws -> (
        source: RecordedConfig, config: Config?, plan: Plan?, problems: Problems
    ) {
        do {
            return try ConfigSource(argument: config).record()
        } catch  where format == .json {
            let failure = StartFailure(error)
            StandardStreams.printOut(Problems(ofFile: config, failure.reason).json)
            throw ExitCode(failure.status)
        }
    }
}
