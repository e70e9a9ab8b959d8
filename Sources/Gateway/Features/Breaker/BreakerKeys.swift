import YAMLReader

extension Config.Backend {
    /// `breaker:`
    package struct Breaker: Sendable {
        let location: SourceLocation
        /// The share of failures at which the breaker opens, more than 0 and at most 1.
        package var openAt: Located<Double>?
        package var minRequests: Located<Int>?
        package var window: Located<Duration>?
        package var tryAgainAfter: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }
}

enum BreakerKeys {
    static let backend: [BlockKey<Config.Backend>] = [
        .block(
            "breaker", \.breaker, "circuit breaker: stops calling a backend that fails too often")
    ]
}

extension Config.Backend.Breaker: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "open_at", \.openAt, .share,
            default: .text("\(Int(PlanDefaults.breakerOpenAt * 100))%"),
            "share of failed calls at which the breaker opens"),
        .value(
            "min_requests", \.minRequests, .positive,
            default: .number(PlanDefaults.breakerRequestsMin),
            "minimum number of calls in the window for the breaker to open"),
        .value(
            "window", \.window, .duration, default: .time(PlanDefaults.breakerWindow),
            "length of the sliding window"),
        .value(
            "try_again_after", \.tryAgainAfter, .duration,
            default: .time(PlanDefaults.breakerTryAgainAfter),
            "time until the open breaker lets one probe call through"),
    ]
}
