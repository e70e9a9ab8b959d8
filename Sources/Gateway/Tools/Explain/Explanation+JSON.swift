import Basics
import HTTP
import YAMLReader

/// `explain --format json`: what programs need as members, and the lines of the text.
extension Explanation {
    package var json: String { json(calls: { $0.members }) }

    /// - Parameters:
    ///   - calls: the members of a call
    ///   - others: members that follow
    func json(
        isAccepted: Bool? = nil, calls members: (ExplainedCall) -> [(String, JSONTree)],
        and others: [(String, JSONTree)] = []
    ) -> String {
        let location = endpoint?.location
        var calls: [ExplainedCall] = []
        if let endpoint, endpoint.proxy == nil, entry.lines == nil, !isRefused(by: endpoint) {
            calls = (try? self.calls(of: endpoint).all) ?? []
        }
        let facts: [(String, JSONTree)] = [
            ("accepted", .raw("\(isAccepted ?? self.isAccepted)")),
            ("route", endpoint.map { .text($0.name) } ?? .raw("null")),
            ("file", location.map { .text($0.file) } ?? .raw("null")),
            ("line", location.map { .raw("\($0.line)") } ?? .raw("null")),
            ("calls", .list(calls.map { .object(members($0)) })),
        ]
        let lines = text.split(separator: "\n").map(String.init)
        return JSONTree.object(facts + others + [("lines", .texts(lines))]).text + "\n"
    }
}

extension ExplainedCall {
    /// A call that is not sent has no request.
    var members: [(String, JSONTree)] {
        var members: [(String, JSONTree)] = [
            ("name", .text(plan.name)), ("required", .raw("\(plan.isRequired)")),
            ("backend", .text(backend.name)), ("state", .text(state)),
        ]
        if let reason { members.append(("reason", .text(reason))) }
        if let condition { members.append(("if", .text(condition))) }
        if let elements { members.append(("elements", .raw("\(elements)"))) }
        guard let (line, message) = request else { return members }
        members += [
            ("after", .texts(waitsFor.map { endpoint.calls[$0].name })),
            ("timeout_ms", .milliseconds(min(plan.timeout, endpoint.deadline))),
            ("request", .text(line)),
            ("headers", .list(message.fields.map { .texts(["\($0.name)", $0.value]) })),
        ]
        if let body = message.body { members.append(("body", .text(body))) }
        return members
    }
}

extension JSONTree {
    /// With a fraction, as in the text.
    static func milliseconds(_ duration: Duration) -> JSONTree {
        .raw(String(duration.millisecondsText.dropLast(2)))
    }
}
