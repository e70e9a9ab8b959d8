/// `breaker:`
struct BreakerPlan: Equatable {
    /// The share of failures, 0 to 1, at which it opens.
    let openAt: Double
    /// Below so many calls in the window it stays closed.
    let requestsMin: Int
    let window: Duration
    let tryAgainAfter: Duration
}
