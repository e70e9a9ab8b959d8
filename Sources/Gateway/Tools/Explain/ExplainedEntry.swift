import Basics
import HTTP

/// The lines of `explain` about what applies to a request before its endpoint is known: the host,
/// the client's address, and a CORS preflight.
struct ExplainedEntry {
    private let plan: Plan
    private let head: RequestHead

    init(_ plan: Plan, _ head: RequestHead) {
        self.plan = plan
        self.head = head
    }

    /// The response to a preflight; nil for any other request.
    private var preflight: Response? {
        guard head.method == .options else { return nil }
        return Preflight(plan).response(to: head)
    }

    /// Whether the gateway responds to the request itself: as a preflight, or to a request for a
    /// host that it does not serve.
    var lines: [String]? {
        if let hosts = plan.entry.hosts, namesHost, !hosts.accepts(head) {
            return ["refused   421: hosts has only \(hosts.text)"]
        }
        if deniesAgent { return ["refused   403: user_agents denies the User-Agent"] }
        guard let preflight else { return nil }
        return ["preflight 204"]
            + preflight.fields.map { "          \(String($0.name)): \(String($0.value))" }
    }

    /// Whether the request is accepted as far as these rules go.
    var isAccepted: Bool {
        if deniesAgent { return false }
        guard let hosts = plan.entry.hosts, namesHost else { return true }
        return hosts.accepts(head)
    }

    /// Without a `User-Agent`, the request counts as one of a client that is accepted.
    private var deniesAgent: Bool {
        guard let rule = plan.entry.userAgents, head.fields.contains(.userAgent) else {
            return false
        }
        return !rule.accepts(head)
    }

    /// Without a host, the request counts as one for a host that the gateway serves.
    private var namesHost: Bool { head.target.authority != nil || head.fields.contains(.host) }

    /// The rules that the request alone does not decide.
    func conditions(_ endpoint: EndpointPlan) -> [String] {
        var lines: [String] = []
        if let listen = ListenSummary(plan).text { lines.append("listen    \(listen)") }
        for rule in [plan.entry.clients, endpoint.clients] {
            if let rule { lines.append("clients   \(rule.consequences)") }
        }
        if let auth = endpoint.auth {
            lines.append("auth      \(auth.text); others get 401 or 403")
        }
        return lines + Features.all.flatMap { $0.conditions(endpoint, of: plan, head) }
    }
}
