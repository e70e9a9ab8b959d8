import Basics
import HTTP
import Patterns
import YAMLReader

/// The lines of `explain` about the client's request: route, parameters, and forwarded headers and
/// query.
struct ExplainedRequest {
    private let endpoint: EndpointPlan
    private let head: RequestHead

    init(_ endpoint: EndpointPlan, _ head: RequestHead) {
        self.endpoint = endpoint
        self.head = head
    }

    /// Route and parameters, of an endpoint that passes requests through.
    var routeLines: [String] {
        var rows = [
            ["route     ", endpoint.name, "\(endpoint.location.file):\(endpoint.location.line)"]
        ]
        if !endpoint.params.isEmpty {
            rows.append(["params    ", endpoint.params.map(text).joined(separator: "  "), ""])
        }
        return lines(of: rows)
    }

    var lines: [String] {
        var rows = [
            ["route     ", endpoint.name, "\(endpoint.location.file):\(endpoint.location.line)"]
        ]
        let dropped = droppedQuery
        if !endpoint.params.isEmpty || !dropped.isEmpty {
            rows.append([
                "params    ", endpoint.params.map(text).joined(separator: "  "),
                dropped.isEmpty ? "" : "dropped: \(dropped.joined(separator: ", ")) (not declared)",
            ])
        }
        let forwards = Set(endpoint.calls.map(\.forward.text))
        let forwarded = forwards.count == 1 ? forwards.first ?? "" : "different for each call"
        return lines(of: rows) + (forwards.isEmpty ? [] : ["forwards  \(forwarded)"])
            + ["deadline  \(endpoint.timing)"]
    }

    /// Aligns the last column, unless it would be too far to the right.
    private func lines(of rows: [[String]]) -> [String] {
        rows.allSatisfy { $0[1].count <= 60 }
            ? TextTable(rows, gaps: [0, 4]).lines
            : rows.flatMap { TextTable([$0], gaps: [0, 4]).lines }
    }

    /// `id=42 (integer)`, `lang=en (default)`
    private func text(of param: ParamPlan) -> String {
        var notes: [String] = []
        if let kind = param.rule.kind.note { notes.append(kind) }
        let value: String
        var work = PatternWork()
        switch param.read(head, &work) {
        case .value(let sent): value = "\(param.name)=\(String(sent))"
        case .refused: value = "\(param.name) invalid"
        case .absent:
            value =
                param.defaultValue.map { "\(param.name)=\(String($0))" } ?? "\(param.name) not sent"
            if param.defaultValue != nil { notes.append("default") }
        }
        return notes.isEmpty ? value : "\(value) (\(notes.joined(separator: ", ")))"
    }

    /// The names of the query parameters that nothing in the endpoint uses, once each.
    private var droppedQuery: [String] {
        guard let query = head.target.query, !endpoint.refusesUnknownQuery else { return [] }
        var names: [String] = []
        for parameter in QueryParameters(query) where !isKnown(parameter) {
            let name = String(parameter.decodedName ?? parameter.name)
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private func isKnown(_ parameter: QueryParameter) -> Bool {
        endpoint.params.contains { param in
            if case .query(let name) = param.source { parameter.isNamed(name) } else { false }
        }
            || endpoint.usedQueryNames.contains(where: parameter.isNamed)
            || endpoint.calls.contains { $0.forward.query?.forwards(parameter) == true }
    }
}

extension ValueRule.Kind {
    /// The type in the output; none for a string.
    fileprivate var note: String? {
        switch self {
        case .string: nil
        case .integer, .wholeNumber: "integer"
        case .number: "number"
        case .boolean: "boolean"
        case .uuid: "uuid"
        }
    }
}

extension ForwardPlan {
    /// `headers: none`, or `headers: Authorization  query: page, size`
    var text: String {
        let names =
            (headers.map { "\($0)" } + proxyHeaders.map { "\($0) (from trusted proxies)" })
            .joined(separator: ", ")
        let text = "headers: \(names.isEmpty ? "none" : names)"
        switch query {
        case nil: return text
        case .names(let names):
            return text + "  query: \(names.map { String($0) }.joined(separator: ", "))"
        case .all: return text + "  query: all"
        }
    }
}
