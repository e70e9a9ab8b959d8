/// `min_duration` and `round_up_to`: when a response may leave.
package struct PaddingPlan: Equatable {
    package let minimum: Duration
    package let step: Duration?
}
