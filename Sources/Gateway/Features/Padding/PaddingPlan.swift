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
