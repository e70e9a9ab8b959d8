/// `breaker:`
struct BreakerPlan: Equatable {
    /// The share of failures, from 0 to 1, at which the breaker opens.
    let openAt: Double
    /// With fewer calls in the window, the breaker stays closed.
    let requestsMin: Int
    let window: Duration
    let tryAgainAfter: Duration
}
