import ArgumentParser
import Basics
import Gateway
import HTTP
import Process
import Promises
import Reactor
import System
import UVReactor

/// `tributary explain CONFIG METHOD URL`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show how the gateway handles one request; sends nothing without --run.",
        discussion: """
            EXAMPLES
              tributary explain my.yaml GET '/products/42?lang=de'
              tributary explain my.yaml GET /home --header 'Accept-Language: de'
              tributary explain my.yaml POST /login --data '{"user":"ann"}'
              tributary explain --run my.yaml GET /home  send it, show its waterfall
              tributary explain --format json my.yaml GET /home

            EXIT STATUS
              0   an endpoint accepts the request
              1   no endpoint does (404, 405), or the request is invalid (400), or its
                  body too large (413) or of another type (415), or its credential is
                  refused, or it fails because of calls that are skipped (400, 403, 502)

            A request without a credential counts as one of an accepted caller, except \
            with --run.
            """)

    @Argument(
        help: "The configuration, YAML or JSON; - reads standard input.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String

    @Argument(help: "The request method, e.g. GET.")
    var method: String

    @Argument(help: "The path and query, or the full URL.")
    var url: String

    @Option(
        name: [.customShort("H"), .long],
        help: "A request header as 'Name: value'; may be repeated.")
    var header: [String] = []

    @Option(help: "The name of the listener that the request arrives at.")
    var listener: String?

    @Option(name: .shortAndLong, help: "The request body.")
    var data: String?

    @Flag(name: .customLong("run"), help: "Send the request to the backends and show each call.")
    var isRun = false

    @Option(help: "Output format: text or json.")
    var format = OutputFormat.text

    func run() throws {
        guard let method = Method(method) else {
            throw ValidationError("not a request method such as GET or POST: \(method)")
        }
        guard let target = Target(url), target.form != .asterisk else {
            throw ValidationError("not a URL such as /path?query: \(url)")
        }
        let fields = try fields()
        let plan = try ConfigSource(argument: config).checked().plan
        // Without --data, a request that is sent has no body; otherwise any body is assumed.
        let body = isRun ? data ?? "" : data
        let explanation = Explanation(
            plan, method, target, fields, body: body.map { Bytes($0) },
            listener: try listener.map { try address(of: $0, in: plan) })
        guard isRun else { return try show(explanation) }
        let sent = try result(of: explanation)
        StandardStreams.printOut(format == .json ? sent.json : sent.text)
        guard explanation.isAccepted, sent.isAuthenticated else { throw ExitStatus.notAccepted }
    }

    private func address(of listener: String, in plan: Plan) throws -> String {
        guard let address = plan.process.address(ofListener: listener) else {
            throw ValidationError("--listener \(listener): no entry of 'listen' has this name")
        }
        return address
    }

    /// The loop has the time, and a random source; nothing is sent.
    private func show(_ explanation: Explanation) throws {
        var isAccepted = false
        _ = try UVLoop.run { loop in
            let explanation = explanation.checkingCredential(on: loop)
            StandardStreams.printOut(format == .json ? explanation.json : explanation.text)
            isAccepted = explanation.isAccepted
            loop.stop()
        }
        guard isAccepted else { throw ExitStatus.notAccepted }
    }

    private func result(of explanation: Explanation) throws -> Explanation.Run {
        var result: Result<Explanation.Run, any Error>?
        _ = try UVLoop.run { loop in
            explanation.sendRequest(on: loop).whenSettled { settled in
                result = settled
                loop.stop()
            }
        }
        guard let result else { throw StartFailure.internalError("the request never ended") }
        return try result.get()
    }

    private func fields() throws -> Fields {
        var fields = Fields()
        for line in header {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            guard let name = FieldName(String(name)), let value = FieldValue(String(value)) else {
                throw ValidationError("not a header such as 'Name: value': \(line)")
            }
            fields.append(name, value)
        }
        return fields
    }
}
