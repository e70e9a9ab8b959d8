import Basics

/// How many streams a connection may reset: to the backend, many resets look like an attack
/// (CVE-2023-44487). The time is a parameter.
///
/// 100 at once and 20 per second: below the limits of the usual servers.
struct CancellationBudget {
    private static let bucket = TokenBucket(count: 20, per: .seconds(1), burst: 100)
    /// The time until some resets are allowed again.
    static let retryInterval = Duration.seconds(1)

    /// When the budget will be full again, in units of the bucket.
    private var arrival: Int64 = 0

    /// Counts one reset; false if it is not allowed.
    mutating func take(at now: Instant) -> Bool {
        guard
            let new = Self.bucket?.arrival(
                charging: 1, to: arrival, at: TokenBucket.time(of: now))
        else { return false }
        arrival = new
        return true
    }
}
