/// Where a thread waits until it opens, once and for ever.
///
/// With the thread's own clock: a thread that blocks cannot rely on an executor to wake it.
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
