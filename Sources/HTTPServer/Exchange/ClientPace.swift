import Basics

/// Measures whether a client transfers bytes, of a response or of the body of a request, at a minimum
/// rate. Plain numbers; an exchange has one for each purpose.
struct ClientPace {
    /// When the present measurement began: the client has not kept the rate since then.
    private(set) var since: Instant
    /// The transferred bytes at that moment.
    private var base: Int

    init(since: Instant, base: Int = 0) {
        self.since = since
        self.base = base
    }

    /// What the client has transferred since the measurement began, in bytes.
    func transferred(_ total: Int) -> Int { total - base }

    /// Since when the client has been too slow; nil if it has transferred enough, which begins the next
    /// measurement.
    ///
    /// - Parameters:
    ///   - total: transferred bytes
    ///   - needed: what it must have transferred since `since`, in bytes
    mutating func slowSince(_ total: Int, needing needed: Int, now: Instant) -> Instant? {
        guard transferred(total) >= max(1, needed) else { return since }
        self = ClientPace(since: now, base: total)
        return nil
    }
}
