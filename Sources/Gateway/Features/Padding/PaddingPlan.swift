import Basics

/// `min_duration` and `round_up_to`: when a response may leave.
package struct PaddingPlan: Equatable {
    package let minimum: Duration
    package let step: Duration?

    /// When a response leaves that is ready at this time: at the minimum, and if it is ready later,
    /// with the next full step after the minimum, or at once without steps.
    ///
    /// Both times count from the request's last byte.
    package func end(ofResponseAt time: Duration) -> Duration {
        guard time > minimum, let step else { return max(time, minimum) }
        let stepLength = max(1, step.inNanoseconds)
        let steps = ((time - minimum).inNanoseconds + stepLength - 1) / stepLength
        return minimum + .nanoseconds(steps * stepLength)
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
