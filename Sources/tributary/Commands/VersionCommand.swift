import ArgumentParser
import System

/// `tributary version`
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version, how it was built, and the libraries in use.",
        discussion: """
            EXAMPLES
              tributary version
              tributary version --json
              tributary --version              the number alone
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() {
        let facts = BuildFacts()
        StandardStreams.printOut(json ? facts.json : facts.text)
    }
}
