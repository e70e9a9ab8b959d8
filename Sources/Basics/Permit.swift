/// The right to use one unit of something limited, such as a call of a concurrency limit or a
/// request in flight. Confined to its worker.
///
/// The unit is released once: by `release()`, or when the last owner drops the permit, however the
/// work ends. Work that goes on after its result was given up holds the unit until it has ended.
package final class Permit {
    private var source: Permits?
    /// Units of work that have not ended.
    private var work = 0
    private var isReleased = false

    fileprivate init(of source: Permits) {
        self.source = source
    }

    deinit { source.take()?.recordRelease() }

    /// Whether three quarters of the permits of its kind are in use; nil after the unit is free.
    package var shortage: Shortage? { source?.shortage }

    /// Releases the unit, at once or when the work has ended; later calls do nothing.
    package func release() {
        isReleased = true
        if work == 0 { source.take()?.recordRelease() }
    }

    /// Whether the work may go on with it: `release` was not called.
    package var isHeld: Bool { !isReleased }

    /// Work begins that may last longer than the owner waits for it, such as a request at a backend.
    package func workBegan() { work += 1 }

    /// The work has ended.
    package func workEnded() {
        assert(work > 0, "more work ended than began")
        work -= 1
        if isReleased { release() }
    }
}

/// Counts the permits of one kind that are in use. Its users state the limit with each request for
/// a permit, so that the count survives a change of the limit.
package final class Permits {
    private var count = 0
    private var onRelease: (() -> Void)?

    package var inUse: Int { count }

    /// As `isShort` received it last.
    private var limit = Int.max

    var shortage: Shortage { Shortage(of: count, limit: limit) }

    package init() {}

    /// Whether another permit leaves less than a quarter of them. Sets the limit of `shortage`.
    package func isShort(below limit: Int) -> Bool {
        self.limit = limit
        return Shortage(of: count &+ 1, limit: limit) != .none
    }

    /// A permit; nil if as many as `limit` are in use.
    package func take(below limit: Int) -> Permit? {
        guard count < limit else { return nil }
        count += 1
        assert(count > 0 && count <= limit, "more permits are in use than exist")
        return Permit(of: self)
    }

    /// Sets the action after each release, for example to start the next queued call. Nil removes
    /// it.
    package func afterRelease(_ action: (() -> Void)?) {
        onRelease = action
    }

    fileprivate func recordRelease() {
        assert(count > 0, "a permit was released twice")
        count -= 1
        onRelease?()
    }
}
