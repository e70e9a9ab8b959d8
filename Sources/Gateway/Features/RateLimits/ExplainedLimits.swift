import Basics
import HTTP

/// The lines of `explain` about rate limits: which limits a request is charged to, and by which key.
struct ExplainedLimits {
    private let endpoint: EndpointPlan
    /// Nil if the request is invalid; limits by its parameters or its body are then not reached.
    private let values: CallValues?

    init(_ endpoint: EndpointPlan, _ values: CallValues?) {
        self.endpoint = endpoint
        self.values = values
    }

    /// In the order in which they are checked.
    var lines: [String] {
        LimitUsePlan.Position.allCases.flatMap { position in
            endpoint.limits.filter { $0.position == position }.map(line)
        }
    }

    /// `limits    per_tenant: 1000/m by {request.header.X-Tenant}, here acme; costs 5`
    private func line(_ use: LimitUsePlan) -> String {
        var text = "limits    \(use.summary)"
        if let values, !use.key.isEmpty {
            text += ", here " + use.key.map { value($0, values) }.joined(separator: " and ")
        }
        if case .count = use.cost, let values {
            text += "; costs \(use.cost(of: values))"
        } else {
            text += use.costText
        }
        return text + condition(of: use)
    }

    /// `; if {request.caller} is "ci"`, where the request alone does not decide whether the limit
    /// applies; `; not charged: {lang} is "en" does not hold`.
    private func condition(of use: LimitUsePlan) -> String {
        guard let condition = use.condition else { return "" }
        guard let values else { return "; if \(condition.text)" }
        let known = KnownValues(
            values, missing: Array(repeating: false, count: endpoint.calls.count))
        return switch condition.result(in: known) {
        case .holds: ""
        case .fails: "; not charged: 'when' does not hold: \(condition.failing(in: known))"
        case .unknown: "; if \(condition.text)"
        }
    }

    private func value(_ part: LimitUsePlan.KeyPart, _ values: CallValues) -> String {
        switch part {
        case .address: "the client's address"
        case .caller: values.text(of: .requestCaller).map { "'\(String($0))'" } ?? "the caller"
        case .value(let source, _):
            values.text(of: source).map { "'\(String($0))'" } ?? "the client's address"
        }
    }
}

extension LimitUsePlan {
    /// `, in the store every 100ms; while it is down: local`, for a limit that replicas share.
    private var sharing: String {
        guard let shared = limit.rates[0].shared else { return "" }
        let sync = shared.sync.map { " every \($0.spelled)" } ?? ""
        return ", in the store\(sync); while it is down: \(shared.whenDown.rawValue)"
    }

    /// `per_client: 100/s by address`
    var summary: String {
        let rates = limit.rates.map { rate in
            let text =
                rate.bucket.burst == rate.bucket.count
                ? rate.spelled : "\(rate.spelled) (burst \(rate.bucket.burst))"
            return rate.plan.map { "\(text) for \(String($0))" } ?? text
        }
        return "\(limit.name): \(rates.joined(separator: ", "))"
            + (spelledKey.map { " by \($0)" } ?? ", all requests together") + sharing
    }
}
