import ArgumentParser
import Basics
import GatewayTools
import HTTP
import Promises
import Reactor
import UVReactor

/// `tributary explain CONFIG METHOD URL`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what the gateway does with one request. Sends nothing without --run.",
        discussion: """
            EXAMPLES
              tributary explain my.yaml GET '/products/42?lang=de'
              tributary explain my.yaml GET /home --header 'Accept-Language: de'
              tributary explain my.yaml POST /login --data '{"user":"ann"}'
              tributary explain --run my.yaml GET /home    sends it and shows its calls as a waterfall

            EXIT STATUS
              0 an endpoint takes the request, 1 none does (404, 405), it is invalid (400) or its body
                too large (413)
            """)

    @Argument(help: "The configuration, YAML or JSON; - is standard input.")
    var config: String

    @Argument(help: "The method, such as GET.")
    var method: String

    @Argument(help: "The path with a query, or a whole URL.")
    var url: String

    @Option(
        name: [.customShort("H"), .long],
        help: "A header of the request, as 'Name: value'; may be repeated.")
    var header: [String] = []

    @Option(name: .shortAndLong, help: "The body of the request.")
    var data: String?

    @Flag(name: .customLong("run"), help: "Send the request and show what happened.")
    var isRun = false

    func run() throws {
        guard let method = Method(method) else {
            throw ValidationError("write the method like GET or POST: \(method)")
        }
        guard let target = Target(url), target.form != .asterisk else {
            throw ValidationError("write the URL like /path?query: \(url)")
        }
        let fields = try fields()
        let plan = try ConfigSource(argument: config).checked().plan
        // A request that is sent without --data has no body; one that is not sent may have any.
        let body = isRun ? data ?? "" : data
        let explanation = Explanation(
            plan, method, target, fields, body: body.map { Bytes($0) })
        StandardStreams.printOut(isRun ? try result(of: explanation) : explanation.text)
        guard explanation.isAccepted else { throw ExitStatus.notAccepted }
    }

    private func result(of explanation: Explanation) throws -> String {
        var result: Result<String, any Error>?
        _ = try UVLoop.run { loop in
            explanation.run(on: loop).whenSettled { settled in
                result = settled
                loop.stop()
            }
        }
        guard let result else { throw StartFailure.internalError("a request without an end") }
        return try result.get()
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
