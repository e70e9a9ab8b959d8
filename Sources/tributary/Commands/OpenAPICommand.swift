import ArgumentParser
import Gateway
import Process
import System

/// `tributary openapi CONFIG`
struct OpenAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract: "Print the OpenAPI 3.1 description of a configuration's endpoints.",
        discussion: """
            Describes what clients may send and receive; contains nothing about backends.

            EXAMPLES
              tributary openapi my.yaml > openapi.json
              tributary openapi --title Shop --server https://api.example.com my.yaml
            """)

    @Option(help: "Title of the API in the description.")
    var title = "API"

    @Option(help: "URL of the API for clients. Default: the address in 'listen'.")
    var server: String?

    @Option(
        help: "Describe the endpoints for this host only. Default: for all hosts.")
    var host: String?

    @Argument(
        help: "The configuration, YAML or JSON; - reads standard input.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String

    func validate() throws {
        do throws(Refusal) {
            if let host { try HostSyntax.check(host) }
        } catch {
            throw ValidationError("--host \(error)")
        }
    }

    func run() throws {
        let loaded = try ConfigSource(argument: config).checked()
        StandardStreams.printOut(
            OpenAPIDocument(
                loaded.config, loaded.plan, title: title, server: server, host: host
            ).text)
    }
}
