import Basics

/// Limits the retries to one backend at the same time to a share of the running calls, so that a
/// failing backend does not receive a multiple of its load. One for each backend and worker.
final class RetryBudget {
    /// Running calls that may be retried, including those in their first attempt.
    private var calls = 0
    /// Held by calls that are being retried or wait for their retry.
    private let retries = Permits()

    /// Share of the calls, in percent.
    private static let sharePercent = 20

    /// Always allowed: a fifth of three calls would be none.
    private static let retriesMin = 3

    func beginCall() { calls += 1 }
    func endCall() {
        assert(calls > 0, "more calls ended than began")
        calls -= 1
    }

    /// Whether the retries are within the budget, which holds when one of them begins. For assertions.
    var isKept: Bool { retries.inUse <= max(Self.retriesMin, calls * Self.sharePercent / 100) }

    /// The permit for one retry; nil if the budget is used up.
    func permit() -> Permit? {
        retries.take(below: max(Self.retriesMin, calls * Self.sharePercent / 100))
    }
}
