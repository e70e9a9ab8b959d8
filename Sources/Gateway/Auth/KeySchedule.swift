import Basics

/// When the keys of an issuer are fetched, and how long they are used: times only, no I/O.
///
/// Between the starts of two fetches at least `interval` passes, whatever causes them: a refresh, a
/// retry, or tokens with an unknown `kid`. So an issuer sees a bounded number of requests, whatever
/// clients send. Before the first set every token is refused, so that the first retries come sooner:
/// after a second, and after twice as long each time, up to `interval`.
struct KeySchedule {
    private let refresh: Duration
    private let stale: Duration
    private let interval: Duration
    private var lastStart: Instant?
    private var isFetching = false
    /// Before the first set.
    private var failures = 0
    /// When the last set arrived, or was confirmed.
    private(set) var fetchedAt: Instant?
    /// When the next fetch in the background is due.
    private(set) var due: Instant
    /// The end of the time in which the keys are used; nil before the first set.
    private var usableUntil: Instant?

    /// The bounds of a `max-age`.
    static let lifetimes = Duration.seconds(60)...Duration.seconds(86_400)

    init(refresh: Duration, stale: Duration, interval: Duration, now: Instant) {
        self.refresh = refresh
        self.stale = stale
        self.interval = interval
        due = now
    }

    /// Whether a fetch may start.
    func mayFetch(at now: Instant) -> Bool {
        lastStart.map { now >= $0 + pause } ?? true
    }

    /// Whether the keys may be used. Also while a fetch runs that began in time: without it,
    /// `stale: 0s` would fail requests during each refresh.
    func isUsable(at now: Instant) -> Bool {
        guard let end = usableUntil else { return false }
        return now < end || isFetching && lastStart.map { $0 <= end } == true
    }

    mutating func recordStart(at now: Instant) {
        lastStart = now
        isFetching = true
    }

    /// - Parameter lifetime: the `max-age` of the response
    mutating func recordSuccess(at now: Instant, lifetime: Duration?) {
        let bounded = lifetime.map {
            min(max($0, Self.lifetimes.lowerBound), Self.lifetimes.upperBound)
        }
        isFetching = false
        fetchedAt = now
        let end = now + (bounded ?? refresh)
        usableUntil = end + stale
        due = max(end, nextStart(after: now))
    }

    mutating func recordFailure(at now: Instant) {
        isFetching = false
        if fetchedAt == nil { failures = min(failures + 1, Self.failuresMax) }
        due = nextStart(after: now)
    }

    /// The whole seconds after which a client may try again: a fetch may have ended then.
    func retryAfter(at now: Instant) -> Int {
        let wait = (nextStart(after: now) - now).inNanoseconds
        return Int(max(0, wait) / 1_000_000_000) + 1
    }

    private func nextStart(after now: Instant) -> Instant {
        lastStart.map { max(now, $0 + pause) } ?? now
    }

    /// 2^21 seconds are 24 days; `interval` is at most 30.
    private static let failuresMax = 22

    /// The least time between the starts of two fetches.
    private var pause: Duration {
        guard fetchedAt == nil else { return interval }
        return min(interval, .seconds(1 << max(0, failures - 1)))
    }
}
