/// The lines of `check` about listeners and features.
struct EntrySummary {
    private let plan: Plan

    init(_ plan: Plan) {
        self.plan = plan
    }

    var lines: [String] {
        var lines: [String] = []
        if let listen = ListenSummary(plan).text { lines.append("listen: \(listen)") }
        return lines + Features.all.flatMap { $0.summary(of: plan) }
    }
}
