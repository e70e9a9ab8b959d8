package import Basics
package import Gateway
import GatewayConfig
package import HTTP
import JSONText
import Patterns

/// What would become of one request, told without sending anything: `tributary explain`.
///
/// Everything comes from the plan by the same code that serves: the router, the parameters' rules and
/// the templates. What only a request or a backend can say stands there as it was written: `{user.id}`.
package struct Explanation {
    let plan: Plan
    let head: RequestHead
    /// Nil where it is not known: then it counts as valid.
    let body: Bytes?

    package init(
        _ plan: Plan, _ method: Method, _ target: Target, _ fields: Fields = Fields(),
        body: Bytes? = nil
    ) {
        self.plan = plan
        self.body = body
        head = RequestHead(method: method, target: target, fields: fields)
    }

    package var text: String {
        switch match {
        case .notFound: "route     none: 404\n"
        case .methodNotAllowed(let allow):
            "route     none for \(head.method): 405, Allow: \(allow)\n"
        case .endpoint(let index): text(of: plan.endpoints[index])
        }
    }

    /// Whether an endpoint takes the request: its route matches, and its parameters and body are
    /// valid.
    package var isAccepted: Bool {
        guard let endpoint else { return false }
        return (try? calls(of: endpoint)) != nil
    }

    private var match: Router.Match {
        Router(plan.endpoints.map { (route: $0.route, index: $0.index) })
            .match(head.method, head.target.path)
    }

    /// The one that the request is for.
    var endpoint: EndpointPlan? {
        if case .endpoint(let index) = match { plan.endpoints[index] } else { nil }
    }

    private func text(of endpoint: EndpointPlan) -> String {
        var lines = ExplainedRequest(endpoint, head).lines
        do throws(RefusedRequest) {
            let calls = try calls(of: endpoint)
            lines += self.lines(of: calls)
            lines += ExplainedAnswer(endpoint, calls, head.method).lines
        } catch {
            lines += error.explained
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A line for each call, and below it what the call sends.
    private func lines(of calls: [ExplainedCall]) -> [String] {
        // Below the request: behind the columns of the start and of the name.
        let indent = 8 + (calls.map(\.title.count).max() ?? 0)
        let margin = String(repeating: " ", count: indent)
        let rows = TextTable(calls.map(\.row), gaps: [2, 2, 5, 2]).lines
        return zip(rows, calls).flatMap { row, call in [row] + call.message.map { margin + $0 } }
    }

    /// Throws what is wrong with the request.
    func calls(of endpoint: EndpointPlan) throws(RefusedRequest) -> [ExplainedCall] {
        let values = try endpoint.values(of: head, body: body)
        return endpoint.calls.map {
            ExplainedCall($0, of: endpoint, backend: plan.backends[$0.backend], values)
        }
    }
}

extension RefusedRequest {
    /// One line for each reason.
    var explained: [String] {
        reasons.map { "refused   \(status.code): \($0)" }
    }

    private var reasons: [String] {
        switch self {
        case .invalid(let invalid):
            invalid.errors.map { fault in
                [fault.location.rawValue, fault.name, fault.reason.text].filter { !$0.isEmpty }
                    .joined(separator: " ")
            }
        case .tooLarge: ["body is larger than max_body"]
        case .malformed: ["body is malformed"]
        case .overloaded: ["too many requests are in flight"]
        }
    }
}
