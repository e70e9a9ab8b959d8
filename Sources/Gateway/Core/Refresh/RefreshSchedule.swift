import Basics

/// When a value is fetched, and how long it is used: times only, no I/O.
///
/// Between the starts of two fetches at least `interval` passes, whatever causes them: a refresh, a
/// retry, or a caller that waits. So the source of the value sees a bounded number of requests,
/// whatever clients send. Without a value nothing works, so that the first retries come sooner: after
/// a second, and after twice as long each time, up to `pauseMax`.
struct RefreshSchedule {
    private let rules: RefreshRules
    /// Whether a fetch runs, or ran when the schedule was stopped.
    private var isFetching = false
    private(set) var isStopped = false
    private var lastStart: Instant?
    /// Fetches that failed since the last success.
    private var failures = 0
    /// When the last value arrived, or was confirmed.
    private(set) var fetchedAt: Instant?
    /// When the next fetch in the background is due.
    private(set) var due: Instant
    /// The end of the time in which the value is used; nil before the first one.
    private var usableUntil: Instant?

    init(_ rules: RefreshRules, now: Instant) {
        self.rules = rules
        due = now
    }

    /// Whether the last fetch failed.
    var isFailing: Bool { failures > 0 }

    /// Whether a fetch may start: one at a time.
    func mayFetch(at now: Instant) -> Bool {
        !isFetching && !isStopped && now >= nextStart(after: now)
    }

    /// Whether the value may be used. Also while a fetch runs that began in time: without it,
    /// `stale` of zero would fail requests during each refresh.
    func isUsable(at now: Instant) -> Bool {
        guard let end = usableUntil else { return false }
        if now < end { return true }
        return rules.stale != nil && isFetching && lastStart.map { $0 <= end } == true
    }

    mutating func recordStart(at now: Instant) {
        lastStart = now
        isFetching = true
    }

    /// - Parameters:
    ///   - lifetime: as the source states it
    ///   - random: a number below its argument
    mutating func recordSuccess(
        at now: Instant, lifetime: Duration?, random: (Int) -> Int = { _ in 0 }
    ) {
        let bounds = rules.lifetimes
        let lifetime =
            lifetime.map { min(max($0, bounds.lowerBound), bounds.upperBound) } ?? rules.lifetime
        isFetching = false
        failures = 0
        fetchedAt = now
        usableUntil = now + lifetime + (rules.stale ?? .zero)
        due = max(now + lifetime * percent(random) / 100, nextStart(after: now))
    }

    mutating func recordFailure(at now: Instant) {
        isFetching = false
        failures = min(failures + 1, Self.failuresMax)
        due = nextStart(after: now)
    }

    /// No fetch starts any more. A value that was usable because a fetch ran stays usable: requests that
    /// began before a reload may still need it.
    mutating func stop() { isStopped = true }

    /// The whole seconds after which a client may try again: a fetch may have ended then.
    func retryAfter(at now: Instant) -> Int {
        let wait = (nextStart(after: now) - now).inNanoseconds
        return Int(max(0, wait) / 1_000_000_000) + 1
    }

    private func nextStart(after now: Instant) -> Instant {
        lastStart.map { max(now, $0 + pause) } ?? now
    }

    private func percent(_ random: (Int) -> Int) -> Int {
        let range = rules.refreshPercent
        return range.lowerBound + (range.count > 1 ? random(range.count) : 0)
    }

    /// 2^21 seconds are 24 days, which is enough for every `pauseMax`.
    private static let failuresMax = 22

    /// The least time between the starts of two fetches.
    private var pause: Duration {
        let hasValue = fetchedAt != nil
        let backoff =
            hasValue && failures == 0
            ? .zero : min(rules.pauseMax, .seconds(1 << max(0, failures - 1)))
        return hasValue ? max(rules.interval, backoff) : backoff
    }
}
