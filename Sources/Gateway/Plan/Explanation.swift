import Basics
package import HTTP

/// What would become of one request, told without sending anything: `tributary explain`.
///
/// Everything comes from the plan by the same code that serves: the router, the parameters' rules and
/// the templates. What only a request or a backend can say stands there as it was written: `{user.id}`.
package struct Explanation {
    private let plan: Plan
    private let head: RequestHead

    package init(_ plan: Plan, _ method: Method, _ target: Target, _ fields: Fields = Fields()) {
        self.plan = plan
        head = RequestHead(method: method, target: target, fields: fields)
    }

    package var text: String {
        let router = Router(plan.endpoints.map { (route: $0.route, index: $0.index) })
        return switch router.match(head.method, head.target.path) {
        case .notFound: "route     none: 404\n"
        case .methodNotAllowed(let allow):
            "route     none for \(head.method): 405, Allow: \(allow)\n"
        case .endpoint(let index): text(of: plan.endpoints[index])
        }
    }

    private func text(of endpoint: EndpointPlan) -> String {
        var lines = ExplainedRequest(endpoint, head).lines
        do throws(InvalidRequest) {
            let values = CallValues(
                head: head, params: try Params(endpoint.params, of: head), body: Bytes(),
                calls: endpoint.calls.count)
            let calls = endpoint.calls.map {
                ExplainedCall($0, of: endpoint, backend: plan.backends[$0.backend], values)
            }
            lines += TextTable(calls.map(\.row), gaps: [2, 2, 5, 2]).lines
            lines += ExplainedAnswer(endpoint, calls).lines
        } catch {
            lines += error.errors.map { fault in
                "refused   400: \(fault.location.rawValue) \(fault.name) \(fault.reason.text)"
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
