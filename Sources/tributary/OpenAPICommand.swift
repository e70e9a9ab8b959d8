import ArgumentParser
import GatewayTools

/// `tributary openapi CONFIG`
struct OpenAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract: "Print the OpenAPI 3.1 description of a configuration's endpoints.",
        discussion: """
            It tells what clients may send and what they get; nothing about backends.

            EXAMPLES
              tributary openapi my.yaml > openapi.json
              tributary openapi --title Shop --server https://api.example.com my.yaml
            """)

    @Option(help: "What the description calls the service.")
    var title = "API"

    @Option(help: "Where clients reach it. Default: what 'listen' says.")
    var server: String?

    @Argument(help: "The configuration, YAML or JSON; - is standard input.")
    var config: String

    func run() throws {
        let loaded = try ConfigSource(argument: config).checked()
        StandardStreams.printOut(
            OpenAPIDocument(loaded.config, loaded.plan, title: title, server: server).text)
    }
}
