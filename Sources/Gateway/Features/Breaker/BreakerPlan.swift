/// `breaker:`
struct BreakerPlan: Equatable {
    /// The share of failures, from 0 to 1, at which the breaker opens.
    let openAt: Double
    /// With fewer calls in the window, the breaker stays closed.
    let requestsMin: Int
    let window: Duration
    let tryAgainAfter: Duration
}

extension BreakerPlan {
    init(_ keys: Config.Backend.Breaker) {
        self.init(
            openAt: keys.openAt?.value ?? PlanDefaults.breakerOpenAt,
            requestsMin: keys.minRequests?.value ?? PlanDefaults.breakerRequestsMin,
            window: keys.window?.value ?? PlanDefaults.breakerWindow,
            tryAgainAfter: keys.tryAgainAfter?.value ?? PlanDefaults.breakerTryAgainAfter)
    }
}
