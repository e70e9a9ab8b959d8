/// A gate at which threads wait until it opens. It never closes again.
///
/// A blocked thread waits by itself: it cannot rely on an executor to wake it after the limit.
package final class Gate: Sendable {
    private let isOpen = Monitor(false)

    package init() {}

    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.broadcast()
    }

    /// Waits until it is open, or the limit has passed.
    package func wait(atMost limit: Duration?) {
        _ = isOpen.wait(atMost: limit) { isOpen, _ in isOpen ? true : nil }
    }
}
