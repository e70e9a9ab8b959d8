/// The right to use one unit of something limited, such as a call of a concurrency limit or a request
/// in flight. Confined to its worker.
///
/// The unit is released once: by `release()`, or when the last owner drops the permit, so that no way
/// in which work can end keeps it.
package final class Permit {
    private var source: Permits?

    fileprivate init(of source: Permits) {
        self.source = source
    }

    deinit { release() }

    /// Releases the unit; later calls do nothing.
    package func release() {
        source.take()?.released()
    }
}

/// Counts the permits of one kind that are in use. Its users state the limit with each request for a
/// permit, so that the count survives a change of the limit.
package final class Permits {
    package private(set) var inUse = 0
    private var onRelease: (() -> Void)?

    package init() {}

    /// A permit; nil if as many as `limit` are in use.
    package func take(below limit: Int) -> Permit? {
        guard inUse < limit else { return nil }
        inUse += 1
        return Permit(of: self)
    }

    /// Calls `action` after each release: a queue can serve its next entry then. Nil ends that.
    package func afterRelease(_ action: (() -> Void)?) {
        onRelease = action
    }

    fileprivate func released() {
        inUse -= 1
        onRelease?()
    }
}
