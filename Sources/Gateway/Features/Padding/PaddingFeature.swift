/// `min_duration` and `round_up_to` of an endpoint: the time of a response reveals nothing.
enum PaddingFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: PaddingKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { PaddingKeys.check(endpoint, &check) }
    }
}

extension PaddingPlan {
    /// Nil without `min_duration`.
    init?(_ keys: PaddingKeys) {
        guard let minimum = keys.minimum else { return nil }
        self.init(minimum: minimum.value, step: keys.step?.value)
    }

    /// `padded to 400ms, then in steps of 50ms`
    var text: String {
        "padded to \(minimum.spelled)" + (step.map { ", then in steps of \($0.spelled)" } ?? "")
    }

    /// The response time in OpenAPI. The deadline matters only if it is later.
    func description(deadline: Duration) -> String {
        guard deadline > minimum else {
            return "Every response takes \(minimum.spelled), whatever the outcome."
        }
        let later = step.map { ", later ones in steps of \($0.spelled)" } ?? ""
        return "No response takes less than \(minimum.spelled)\(later); the deadline is"
            + " \(deadline.spelled)."
    }
}
