import ArgumentParser
import GatewayConfig

/// `tributary schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the configuration language, for editors.",
        discussion: """
            EXAMPLES
              tributary schema > tributary.schema.json

              # yaml-language-server: $schema=tributary.schema.json    (first line of a YAML file)
            """)

    func run() {
        StandardStreams.printOut(ConfigSchema.text)
    }
}
