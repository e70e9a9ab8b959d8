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
        return lines
    }
}
