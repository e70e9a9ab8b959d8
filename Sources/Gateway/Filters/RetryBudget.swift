import Basics

/// How many calls to one backend may be tried again at the same time: a share of those that run, so
/// that a backend which fails does not get a multiple of its load. One for each backend and worker.
final class RetryBudget {
    /// Calls under way that may be tried again, those in their first try among them.
    private var calls = 0
    /// Those of them that are being tried again, or wait for it.
    private let retries = Permits()

    /// Of the calls, in percent.
    private static let sharePercent = 20

    /// A few are always allowed: a fifth of three calls is none.
    private static let retriesMin = 3

    func callBegan() { calls += 1 }
    func callEnded() { calls -= 1 }

    /// The permit to try once more; nil if the budget is used up.
    func permit() -> Permit? {
        retries.take(below: max(Self.retriesMin, calls * Self.sharePercent / 100))
    }
}
