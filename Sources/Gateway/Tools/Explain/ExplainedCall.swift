import Basics
import HTTP

/// The lines of `explain` about one call: its start, its request, and its time limit.
struct ExplainedCall {
    let plan: CallPlan
    let endpoint: EndpointPlan
    let backend: BackendPlan
    private let result: Result
    /// The calls of this request whose responses it waits for.
    private(set) var waitsFor: [Int] = []
    /// The condition, where it depends on values that only a real request has.
    let condition: String?
    /// The list of the client, as far as the request is known.
    private let list: ForeseenList?

    private enum Result {
        /// The request line, and the headers and body.
        case sent(String, ExplainedMessage)
        /// The request fails before the call is sent.
        case notSent
        /// Its list has no elements.
        case empty
        /// A value that it needs is missing or cannot be sent.
        case skipped(because: String)
        /// Its `when` does not hold.
        case notMade(because: String)
    }

    init(
        _ plan: CallPlan, of endpoint: EndpointPlan, backend: BackendPlan, _ values: CallValues,
        _ foreseen: ForeseenCalls, masksLiterals: Bool
    ) {
        self.plan = plan
        self.endpoint = endpoint
        self.backend = backend
        condition = foreseen.openCondition(of: plan)
        list = foreseen.list(of: plan)
        switch foreseen[plan.index] {
        case .disabled(let reason): result = .notMade(because: reason)
        case .skipped(let reason, let reference):
            result = .skipped(
                because: ExplainedSkip(
                    reason, reference, list: plan.list?.reference, values
                ).text)
        case .skippedAfter(let missing):
            let state = foreseen[missing].isDisabled ? "left out" : "skipped"
            result = .skipped(because: "\(endpoint.calls[missing].name) is \(state)")
        case .sent where foreseen.failure?.isImmediate == true: result = .notSent
        case .sent where list?.elements == 0: result = .empty
        case .sent:
            let values = list?.first ?? values
            waitsFor = plan.waitsFor.filter { foreseen.delaysOthers($0) }
            result = .sent(
                Self.line(plan, backend, values, masksLiterals: masksLiterals),
                ExplainedMessage(plan, backend: backend, values, masksLiterals: masksLiterals))
        }
    }

    /// The method and the URL.
    private static func line(
        _ plan: CallPlan, _ backend: BackendPlan, _ values: CallValues, masksLiterals: Bool
    ) -> String {
        var target = ""
        var mask = QueryMask()
        for piece in plan.target.shownPieces {
            let text = text(of: piece, in: values)
            let isMasked = if case .literal = piece { masksLiterals } else { false }
            target += isMasked ? mask.masked(text, hasReferences: false) : text
        }
        var bytes = Array(target.utf8)
        plan.forward.query?.append(from: values.head.target, to: &bytes)
        let host = backend.hosts.first?.shownURL ?? ""
        return "\(plan.method) \(host)\(String(Bytes(bytes)))"
    }

    /// Empty for an optional value that the client did not send.
    private static func text(of piece: CompiledTemplate.Piece, in values: CallValues) -> String {
        switch piece {
        case .literal(let bytes): return String(bytes)
        case .reference(let reference, _):
            guard !values.isAssumed(reference.source) else { return "{\(reference.name)}" }
            return values.escapedText(of: reference).map { String($0) } ?? ""
        }
    }

    var isWanted: Bool { if case .notMade = result { false } else { true } }

    var isSent: Bool { if case .sent = result { true } else { false } }

    /// Whether it is sent or needs no request, so that its value can be in the response.
    var hasValue: Bool { if case .empty = result { true } else { isSent } }

    /// The number of elements of a list of the client; nil where it is not known.
    var elements: Int? { list?.elements }

    /// Whether elements of a list of the client have no value, whatever the backend responds.
    var lacksElements: Bool { list.map { $0.skipped + $0.truncated > 0 } ?? false }

    /// `product!`
    var title: String { plan.name + (plan.isRequired ? "!" : "") }

    /// The maximum number of requests, without resends.
    var requestsMax: Int {
        guard isSent else { return 0 }
        let attempts = plan.method.isIdempotent ? plan.retry?.attempts ?? 1 : 1
        let requests = list?.requests ?? plan.list?.requestsMax ?? 1
        return attempts * (plan.hedgeAfter == nil ? 1 : 2) * requests
    }

    /// The pool resends an idempotent request once if its reused connection ends before a response.
    var resendsMax: Int { plan.method.isIdempotent ? requestsMax : 0 }

    var state: String {
        switch result {
        case .notMade: "left out"
        case .notSent, .empty: "not sent"
        case .skipped: "skipped"
        case .sent: "sent"
        }
    }

    /// Why it is not sent.
    var reason: String? {
        switch result {
        case .notMade(let because): "'when' does not hold: \(because)"
        case .notSent: "the request fails before"
        case .empty: "\(plan.list?.listName ?? "the list") has no elements"
        case .skipped(let because): because
        case .sent: nil
        }
    }

    /// The request line, and the headers and body.
    var request: (line: String, message: ExplainedMessage)? {
        if case .sent(let line, let message) = result { (line, message) } else { nil }
    }

    /// Columns: start, name, request, notes.
    var row: [String] {
        guard let request else {
            let notes = if case .skipped = result { condition.map { "if \($0)" } ?? "" } else { "" }
            return ["   -", title, "\(state): \(reason ?? "")", notes]
        }
        return [
            waitsFor.isEmpty ? " 0ms" : "then", title, request.line, notes.joined(separator: "  "),
        ]
    }

    /// The headers and the body of the request.
    var message: [String] { request?.message.lines ?? [] }

    private var notes: [String] {
        var notes = ["up to \(min(plan.timeout, endpoint.deadline).spelled)"]
        if !waitsFor.isEmpty {
            let names = waitsFor.map { endpoint.calls[$0].name }
            notes.append("after \(names.joined(separator: ", "))")
        }
        if let condition { notes.append("if \(condition)") }
        notes += Features.all.flatMap { $0.notes(on: plan) }
        if let list { notes.append(list.text) }
        notes += plan.selections
        if Set(endpoint.calls.map(\.forward.text)).count > 1 {
            notes.append("forwards \(plan.forward.text)")
        }
        if let http2 = backend.http2Text { notes.append(http2) }
        if plan.forwarded != .off { notes.append("forwarded \(plan.forwarded.rawValue)") }
        return notes
    }
}
