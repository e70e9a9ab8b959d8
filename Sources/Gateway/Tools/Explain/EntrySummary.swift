/// The lines of `check` about listeners, features, authenticators and rate limits.
struct EntrySummary {
    private let plan: Plan

    init(_ plan: Plan) {
        self.plan = plan
    }

    var lines: [String] {
        var lines: [String] = []
        if let listen = ListenSummary(plan).text { lines.append("listen: \(listen)") }
        lines += Features.all.flatMap { $0.summary(of: plan) }
        lines += plan.authenticators.map { "auth \($0.name): \($0.text)" }
        if let store = plan.store { lines.append("store: \(store.url)") }
        return lines + rateLimits
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
