import Basics
import Gateway
import GatewayConfig
import HTTP

/// The lines of `explain` about one call: its start, its request, and its time limit.
struct ExplainedCall {
    let plan: CallPlan
    private let endpoint: EndpointPlan
    private let backend: BackendPlan
    private let result: Result
    /// The calls of this request that it waits for.
    private var waitsFor: [Int] = []
    /// The condition, where it depends on values that only a real request has.
    private var condition: String?

    private enum Result {
        /// The request line, and the headers and body.
        case sent(String, ExplainedMessage)
        /// A value that it needs is missing.
        case skipped(because: String)
        /// Its `when` does not hold.
        case notMade(because: String)
    }

    init(
        _ plan: CallPlan, of endpoint: EndpointPlan, backend: BackendPlan, _ values: CallValues,
        _ conditions: ExplainedConditions, masksLiterals: Bool
    ) {
        self.plan = plan
        self.endpoint = endpoint
        self.backend = backend
        if let reason = conditions.failing(plan) {
            result = .notMade(because: reason)
            return
        }
        if let missing = plan.uses.first(where: { conditions.isDisabled($0) }) {
            result = .skipped(because: "\(endpoint.calls[missing].name) is left out")
            return
        }
        waitsFor = plan.waitsFor.filter { !conditions.isDisabled($0) }
        condition = conditions.open(plan)
        var target = ""
        var mask = QueryMask()
        for piece in plan.target.shownPieces {
            guard let text = Self.text(of: piece, in: values) else {
                result = .skipped(because: "\(piece.name) is not sent")
                return
            }
            let isMasked = if case .literal = piece { masksLiterals } else { false }
            target += isMasked ? mask.masked(text, hasReferences: false) : text
        }
        var bytes = Array(target.utf8)
        plan.forward.query?.append(from: values.head.target, to: &bytes)
        let host = backend.hosts.first?.shownURL ?? ""
        do throws(ExplainedMessage.Missing) {
            result = .sent(
                "\(plan.method) \(host)\(String(Bytes(bytes)))",
                try ExplainedMessage(
                    plan, backend: backend, values, masksLiterals: masksLiterals))
        } catch {
            result = .skipped(because: "\(error.name) is not sent")
        }
    }

    /// Nil if the client did not send the value.
    private static func text(of piece: CompiledTemplate.Piece, in values: CallValues) -> String? {
        switch piece {
        case .literal(let bytes): return String(bytes)
        case .reference(let reference, _):
            switch reference.source {
            case .call, .requestClient: return "{\(reference.name)}"
            case .requestCaller, .token:
                guard values.hasCaller else { return "{\(reference.name)}" }
            case .requestBody where values.body.isEmpty: return "{\(reference.name)}"
            default: break
            }
            guard let text = values.text(of: reference.source) else {
                return reference.isOptional && values.isAbsent(reference.source) ? "" : nil
            }
            var bytes: [UInt8] = []
            bytes.append(percentEncoding: text.span)
            return String(Bytes(bytes))
        }
    }

    var isWanted: Bool { if case .notMade = result { false } else { true } }

    var isSent: Bool { if case .sent = result { true } else { false } }

    /// `product!`
    var title: String { plan.name + (plan.isRequired ? "!" : "") }

    /// The maximum number of requests, without resends.
    var requestsMax: Int {
        guard isSent else { return 0 }
        let attempts = plan.method.isIdempotent ? plan.retry?.attempts ?? 1 : 1
        return attempts * (plan.hedgeAfter == nil ? 1 : 2)
    }

    /// The pool resends an idempotent request once if its reused connection ends before a response.
    var resendsMax: Int { plan.method.isIdempotent ? requestsMax : 0 }

    /// Columns: start, name, request, notes.
    var row: [String] {
        switch result {
        case .notMade(let because):
            ["   -", title, "left out: 'when' does not hold: \(because)", ""]
        case .skipped(let because): ["   -", title, "skipped: \(because)", ""]
        case .sent(let line, _):
            [waitsFor.isEmpty ? " 0ms" : "then", title, line, notes.joined(separator: "  ")]
        }
    }

    /// The headers and the body of the request.
    var message: [String] {
        if case .sent(_, let message) = result { message.lines } else { [] }
    }

    private var notes: [String] {
        var notes = ["up to \(min(plan.timeout, endpoint.deadline).spelled)"]
        if !waitsFor.isEmpty {
            let names = waitsFor.map { endpoint.calls[$0].name }
            notes.append("after \(names.joined(separator: ", "))")
        }
        if let condition { notes.append("if \(condition)") }
        if let retry = plan.retry { notes.append("\(retry.attempts) attempts at most") }
        if let hedge = plan.hedgeAfter { notes.append("second try at \(hedge.spelled)") }
        notes += plan.selections
        if Set(endpoint.calls.map(\.forward.text)).count > 1 {
            notes.append("forwards \(plan.forward.text)")
        }
        if let http2 = backend.http2Text { notes.append(http2) }
        if plan.forwarded != .off { notes.append("forwarded \(plan.forwarded.rawValue)") }
        return notes
    }
}

extension CompiledTemplate.Piece {
    fileprivate var name: String {
        switch self {
        case .literal: ""
        case .reference(let reference, _): reference.name
        }
    }
}
