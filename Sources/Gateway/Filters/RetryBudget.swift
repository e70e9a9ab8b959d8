/// How many calls to one backend may be tried again at the same time: a share of those that run, so
/// that a backend which fails does not get a multiple of its load. One for each backend and core.
final class RetryBudget {
    /// Calls under way that may be tried again, those in their first try among them.
    private var calls = 0
    /// Those of them that are being tried again, or wait for it.
    private var retries = 0

    /// Of the calls, in percent.
    private static let sharePercent = 20

    /// A few are always allowed: a fifth of three calls is none.
    private static let retriesMin = 3

    func callBegan() { calls += 1 }
    func callEnded() { calls -= 1 }

    /// The right to try once more. Who lets go of it gives it back.
    final class Share {
        private let budget: RetryBudget

        fileprivate init(of budget: RetryBudget) {
            self.budget = budget
        }

        deinit { budget.retries -= 1 }
    }

    /// Takes one retry out of the budget; nil if there is none left.
    func share() -> Share? {
        guard retries < max(Self.retriesMin, calls * Self.sharePercent / 100) else { return nil }
        retries += 1
        return Share(of: self)
    }
}
