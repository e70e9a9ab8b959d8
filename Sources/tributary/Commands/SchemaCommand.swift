import ArgumentParser
import Gateway
import System

/// `tributary schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the configuration language, for editors.",
        discussion: """
            EXAMPLES
              tributary schema > tributary.schema.json

            With this as the first line of the configuration, editors use it:
              # yaml-language-server: $schema=tributary.schema.json
            """)

    func run() {
        StandardStreams.printOut(ConfigSchema.text)
    }
}
