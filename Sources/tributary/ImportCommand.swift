import ArgumentParser
import GatewayTools

/// `tributary import krakend.json`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Convert a KrakenD configuration (version 3 or 2).",
        discussion: """
            The configuration goes to standard output. What has no equivalent is reported on standard
            error with its location in KrakenD's file, and as a comment in the configuration. An
            endpoint that KrakenD protects (auth/*) is written as a comment only.

            The exit status is 3 if something of weight is missing: there are warnings, not only notes.

            EXAMPLES
              tributary import krakend.json > my.yaml
              git show main:krakend.json | tributary import - > my.yaml
            """)

    @Argument(help: "KrakenD's configuration, as JSON; - is standard input.")
    var config: String

    @Flag(help: "Write protected endpoints too; the gateway does not check who calls them.")
    var openProtected = false

    func run() throws {
        let source = try ConfigSource(argument: config)
        let imported = KrakenDImport(
            try source.bytes(), file: source.path, opensProtected: openProtected)
        StandardStreams.printError(imported.lines.map { $0 + "\n" }.joined())
        if let text = imported.text { StandardStreams.printOut(text) }
        guard imported.findings.count(of: .error) == 0 else { throw ExitStatus.configurationErrors }
        if imported.isIncomplete { throw ExitStatus.incompleteImport }
    }
}
