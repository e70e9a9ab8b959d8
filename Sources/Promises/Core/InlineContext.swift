/// Runs handlers at once, on whichever thread settles the promise or attaches the handler: for code
/// that only passes values on, and for tests.
///
/// Only on this context a handler may run before the call that attached it, or that settled the
/// promise, returns; the same holds for the work of `Promise(on:_:)` and `Work.start`. Handlers
/// still do not nest: what one of them makes ready runs after it has returned, so a chain of any
/// length needs no more stack than one link. The context is not a queue: two threads may run
/// handlers of one promise at the same time.
///
/// Links inherit it like any context; `hop(to:)` selects another one. Operators that need a clock
/// or keep state between turns run on `SharedPool` instead.
public final class InlineContext: ExecutionContext {
    /// The one inline context; `.inline` is its short form where an `ExecutionContext` is expected.
    public static let shared = InlineContext()

    private static let pendingJobs = ThreadLocal()

    private init() {}

    /// False: several threads may run handlers at the same time.
    public var isSerial: Bool { false }

    /// False: this context owns no thread.
    public var isCurrent: Bool { false }

    /// Runs the job now, or after the calling inline handler has returned.
    public func enqueue(_ job: consuming PromiseJob) {
        let slot = InlineContext.pendingJobs
        if let outer = unsafe slot.pointer {
            unsafe outer.assumingMemoryBound(to: JobList.self).pointee.append(job)
            return
        }
        var later = JobList()
        later.append(job)
        unsafe withUnsafeMutablePointer(to: &later) { later in
            unsafe slot.pointer = UnsafeMutableRawPointer(later)
            while let node = unsafe later.pointee.popNode() { node.take().runStep() }
            unsafe slot.pointer = nil
        }
    }

    /// Runs the job after a delay, on a thread of Swift's global executor. Called from any thread,
    /// and so is `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        // On a thread where the handlers may block: the thread of the timers must not.
        PoolTimer(job, after: delay, on: GrowingExecutor.shared)
    }
}

extension ExecutionContext where Self == InlineContext {
    /// Handlers run at once, where the promise is settled; see `InlineContext`.
    public static var inline: InlineContext { .shared }
}
