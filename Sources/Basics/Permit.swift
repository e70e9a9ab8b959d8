/// The right to use one unit of something limited, such as a call of a concurrency limit or a
/// request in flight. Confined to its worker.
///
/// The unit is released once: by `release()`, or when the last owner drops the permit, however the
/// work ends. Work that goes on after its result was given up holds the unit until it has ended.
package final class Permit {
    /// Unchecked: it is taken out before it is used.
    @exclusivity(unchecked) private var source: Permits?
    /// Units of work that have not ended.
    private var work = 0
    private var isReleased = false

    fileprivate init(of source: Permits) {
        unsafe self.source = source
    }

    deinit { unsafe source.take()?.recordRelease() }

    /// Whether three quarters of the permits of its kind are in use; nil after the unit is free.
    package var shortage: Shortage? { unsafe source?.shortage }

    /// Releases the unit, at once or when the work has ended; later calls do nothing.
    package func release() {
        isReleased = true
        if work == 0 { unsafe source.take()?.recordRelease() }
    }

    /// Work begins that may last longer than the owner waits for it, such as a request at a backend.
    package func workBegan() { work += 1 }

    /// The work has ended.
    package func workEnded() {
        work -= 1
        if isReleased { release() }
    }
}

/// Counts the permits of one kind that are in use. Its users state the limit with each request for
/// a permit, so that the count survives a change of the limit.
package final class Permits {
    /// Unchecked, like the next property: no access to it calls other code.
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var onRelease: (() -> Void)?

    package var inUse: Int { unsafe count }

    /// As `isShort` received it last.
    @exclusivity(unchecked) private var limit = Int.max

    var shortage: Shortage { unsafe Shortage(of: count, limit: limit) }

    package init() {}

    /// Whether another permit leaves less than a quarter of them. Sets the limit of `shortage`.
    package func isShort(below limit: Int) -> Bool {
        unsafe self.limit = limit
        return unsafe Shortage(of: count &+ 1, limit: limit) != .none
    }

    /// A permit; nil if as many as `limit` are in use.
    package func take(below limit: Int) -> Permit? {
        guard unsafe count < limit else { return nil }
        unsafe count += 1
        return Permit(of: self)
    }

    /// Sets the action after each release, for example to start the next queued call. Nil removes
    /// it.
    package func afterRelease(_ action: (() -> Void)?) {
        unsafe onRelease = action
    }

    fileprivate func recordRelease() {
        unsafe count -= 1
        unsafe onRelease?()
    }
}
