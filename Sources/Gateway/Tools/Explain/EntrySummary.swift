/// The lines of `check` about hosts, client addresses, user agents, authenticators and features.
struct EntrySummary {
    private let plan: Plan

    init(_ plan: Plan) {
        self.plan = plan
    }

    var lines: [String] {
        var lines: [String] = []
        if let listen = ListenSummary(plan).text { lines.append("listen: \(listen)") }
        if let hosts = plan.entry.hosts { lines.append("hosts: \(hosts.text)") }
        if let clients = plan.entry.clients { lines.append("clients: \(clients.text)") }
        if let agents = plan.entry.userAgents { lines.append("user agents: \(agents.text)") }
        for endpoint in plan.endpoints {
            if let clients = endpoint.clients {
                lines.append("clients of \(endpoint.name): \(clients.text)")
            }
        }
        lines += plan.authenticators.map { "auth \($0.name): \($0.text)" }
        if let store = plan.store { lines.append("store: \(store.url)") }
        return lines + rateLimits + Features.all.flatMap { $0.summary(of: plan) }
    }

    /// One line for each use of a limit, with the endpoints that have it.
    private var rateLimits: [String] {
        var uses: [(text: String, endpoints: [String])] = []
        for endpoint in plan.endpoints {
            for use in endpoint.limits {
                var text = use.summary + (use.cost > 1 ? "; costs \(use.cost)" : "")
                if let condition = use.condition { text += "; if \(condition.text)" }
                if let index = uses.firstIndex(where: { $0.text == text }) {
                    uses[index].endpoints.append(endpoint.name)
                } else {
                    uses.append((text, [endpoint.name]))
                }
            }
        }
        return uses.map { text, endpoints in
            let isAll = endpoints.count == plan.endpoints.count
            return "rate limit of \(isAll ? "all endpoints" : endpoints.joined(separator: ", ")):"
                + " \(text)"
        }
    }
}
