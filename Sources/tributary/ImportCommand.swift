import ArgumentParser
import Gateway

/// `tributary import krakend.json`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a configuration of ours out of one of KrakenD (version 3).",
        discussion: """
            The configuration goes to standard output; what has no equivalent, and why, to standard
            error, each with its place in KrakenD's file.

            EXAMPLES
              git show main:krakend.json | tributary import - > my.yaml
            """)

    @Argument(help: "KrakenD's configuration, as JSON; - is standard input.")
    var config: String

    func run() throws {
        let source = try ConfigSource(argument: config)
        let imported = KrakenDImport(try source.bytes(), file: source.path)
        StandardStreams.printError(imported.problems.lines.map { $0 + "\n" }.joined())
        guard let text = imported.text else { throw ExitStatus.configurationErrors }
        StandardStreams.printOut(text)
        // What KrakenD lets through may still be wrong here; better now than at the start.
        let (_, _, plan, problems) = try ConfigSource(path: "my.yaml", text: text).record()
        guard plan == nil else { return }
        StandardStreams.printError(
            "the configuration that was written has mistakes:\n"
                + problems.lines.map { $0 + "\n" }.joined())
        throw ExitStatus.configurationErrors
    }
}
