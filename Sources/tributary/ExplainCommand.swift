import ArgumentParser
import Gateway
import HTTP

/// `tributary explain CONFIG METHOD URL`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what would become of one request; nothing is sent.",
        discussion: """
            EXAMPLES
              tributary explain my.yaml GET '/products/42?lang=de'
              tributary explain my.yaml GET /home --header 'Accept-Language: de'
            """)

    @Argument(help: "The configuration, YAML or JSON; - is standard input.")
    var config: String

    @Argument(help: "The method, such as GET.")
    var method: String

    @Argument(help: "What is asked for: a path with a query, or a whole URL.")
    var url: String

    @Option(
        name: .shortAndLong, help: "A header of the request, as 'Name: value'; may be repeated.")
    var header: [String] = []

    func run() throws {
        guard let method = Method(method) else {
            throw ValidationError("write the method like GET or POST: \(method)")
        }
        guard let target = Target(url), target.form != .asterisk else {
            throw ValidationError("write the URL like /path?query: \(url)")
        }
        let fields = try fields()
        let plan = try ConfigSource(argument: config).checked().plan
        StandardStreams.printOut(Explanation(plan, method, target, fields).text)
    }

    private func fields() throws -> Fields {
        var fields = Fields()
        for line in header {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            guard let name = FieldName(String(name)), let value = FieldValue(String(value)) else {
                throw ValidationError("write the header like 'Name: value': \(line)")
            }
            fields.append(name, value)
        }
        return fields
    }
}
