import ArgumentParser
import Gateway
import KrakenD
import Process
import System

/// `tributary import krakend.json`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Convert a KrakenD configuration (version 3 or 2).",
        discussion: """
            Writes the configuration to standard output. Settings without an equivalent are reported \
            on standard error with their location in the KrakenD file, and as comments in the \
            configuration. API keys and passwords (auth/api-keys, auth/basic) become authenticators; \
            an endpoint that KrakenD protects in another way is written as a comment only.

            The exit status is 3 if there are warnings: the result behaves differently for clients \
            or backends. Notes do not change the exit status.

            EXAMPLES
              tributary import krakend.json > my.yaml
              git show main:krakend.json | tributary import - > my.yaml
              tributary import --format json krakend.json
            """)

    @Argument(
        help: "The KrakenD configuration as JSON; - reads standard input.",
        completion: .file(extensions: ["json"]))
    var config: String

    @Flag(
        help: "Write endpoints whose protection has no equivalent, too; they are then public.")
    var openProtected = false

    @Option(help: "Output format: text or json.")
    var format = OutputFormat.text

    func run() throws {
        let source = try ConfigSource(argument: config)
        let imported = KrakenDImport(
            try source.bytes(), file: source.path, opensProtected: openProtected)
        switch format {
        case .json: StandardStreams.printOut(imported.json)
        case .text:
            StandardStreams.printError(imported.lines.map { $0 + "\n" }.joined())
            if let text = imported.text { StandardStreams.printOut(text) }
        }
        guard imported.findings.count(of: .error) == 0 else { throw ExitStatus.configurationErrors }
        if imported.isIncomplete { throw ExitStatus.incompleteImport }
    }
}
