import Basics

/// When a failed export is repeated, as the OTLP specification says ("Retryable Response Codes",
/// "OTLP/HTTP Throttling"): after what `Retry-After` says, else with exponential backoff and jitter.
struct ExportRetry {
    private var failures = 0

    /// The first wait; later ones are twice as long each.
    private static let firstWait = Duration.seconds(1)
    private static let longestWait = Duration.seconds(30)
    /// A collector cannot stop the export for longer.
    private static let longestRetryAfter = Duration.seconds(120)

    /// The statuses after which the same request may succeed later. All others are final.
    static func isRetryable(_ status: UInt16) -> Bool { [429, 502, 503, 504].contains(status) }

    /// The time until the next attempt, after one more failure.
    ///
    /// - Parameter retryAfter: what the collector requested
    mutating func wait(retryAfter: Duration?, _ entropy: Entropy) -> Duration {
        failures = min(failures + 1, 16)
        if let retryAfter { return min(retryAfter, Self.longestRetryAfter) }
        let wait = min(Self.firstWait * (1 << (failures - 1)), Self.longestWait)
        // Between a half and the whole, so that gateways that failed together do not repeat together.
        let half = wait.inNanoseconds / 2
        return .nanoseconds(half + Int64(entropy.below(Int(half))))
    }

    mutating func reset() { failures = 0 }
}
