import Basics
import HTTP

/// All calls of an endpoint for one request, and the lines of `explain` about them.
struct ExplainedCalls {
    /// In file order.
    let all: [ExplainedCall]
    /// The failure of the request, where no response of a backend can avert it.
    let failure: ForeseenCalls.Failure?

    init(_ endpoint: EndpointPlan, in plan: Plan, _ values: AssumedValues, masksLiterals: Bool) {
        let foreseen = ForeseenCalls(endpoint, in: plan, values)
        failure = foreseen.failure
        all = endpoint.calls.map {
            ExplainedCall(
                $0, of: endpoint, backend: plan.backends[$0.backend], values, foreseen,
                masksLiterals: masksLiterals)
        }
    }

    /// A line for each call, and below it the headers and the body.
    var lines: [String] {
        // Aligned with the request, after the columns of the start and the name.
        let indent = 8 + (all.map(\.title.count).max() ?? 0)
        let margin = String(repeating: " ", count: indent)
        let rows = TextTable(all.map(\.row), gaps: [2, 2, 5, 2]).lines
        return zip(rows, all).flatMap { row, call in [row] + call.message.map { margin + $0 } }
    }

    /// `refused   400: one is required and skipped: request.query.q is not sent`; nil if the request
    /// can succeed.
    var refusal: String? {
        guard let failure else { return nil }
        let reason =
            failure.call.map { "\(all[$0].plan.name) is required and \(all[$0].row[2])" }
            ?? "every call is skipped"
        return "refused   \(failure.status.code): \(reason)"
    }
}
