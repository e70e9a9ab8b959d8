import ArgumentParser
import Assembly
import Gateway
import Glibc
import Process
import System

/// `tributary check CONFIG`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a configuration: list all problems, or summarize the endpoints.",
        discussion: """
            Prints each problem as file:line:column: error: text, with the line of the file; in \
            color on a terminal, unless NO_COLOR is set.

            EXAMPLES
              tributary check my.yaml
              tributary check --strict my.yaml       fail on warnings too (exit status 2)
              tributary check --format json my.yaml  write the problems as JSON
              tributary check --format github my.yaml
                                                     annotate a pull request
              tributary check --replicas 3 my.yaml   add up the limits of three replicas
              generate | tributary check -           read standard input
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, github
    }

    @Flag(help: "Treat warnings as errors (exit status 2).")
    var strict = false

    @Option(help: "Output format: text, json or github.")
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
        if replicas != nil, format != .text {
            throw ValidationError("--replicas prints text only")
        }
    }

    func run() throws {
        let (source, plan, problems) = try load()
        switch format {
        case .text:
            let report = ProblemReport(
                problems: problems,
                isColored: ProblemReport.isColored(
                    terminal: isatty(STDERR_FILENO) == 1, variable: Environment.variable)
            ) { try? source.files.read($0) }
            StandardStreams.printError(report.text)
        case .json, .github: write(problems)
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

    /// With a format for programs every failure is written in it, also if the configuration cannot be
    /// read.
    private func load() throws -> (source: ConfigSource, plan: Plan?, problems: Problems) {
        do {
            let source = try ConfigSource(argument: config)
            let (_, _, plan, problems) = try source.record()
            return (source, plan, problems)
        } catch  where format != .text {
            let failure = StartFailure(error)
            write(Problems(ofFile: config, failure.reason))
            throw ExitCode(failure.status)
        }
    }

    /// Writes the problems for programs.
    private func write(_ problems: Problems) {
        StandardStreams.printOut(
            format == .github ? GitHubAnnotations.text(of: problems) : problems.json)
    }
}
