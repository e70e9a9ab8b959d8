/// Runs handlers at once, on whichever thread settles the promise or attaches the handler: for
/// glue that only passes things on, and for tests.
///
/// This is the one context that does not wait for a clean stack, so a handler may have run before
/// the call that attached it, or that settled the promise, returns. Handlers do not nest even so:
/// what one of them sets off runs when it has returned, so a chain of any length needs no more
/// stack than one link. And it is no queue: two threads may run handlers of one promise at the same
/// time.
///
/// Children inherit it like any other; `hop(to:)` leaves it. Operators that need a clock or keep
/// state between turns leave it for `SharedPool` themselves.
public final class InlineContext: ExecutionContext {
    /// The one inline context; `.inline` as a short form for parameters of type `ExecutionContext`.
    public static let shared = InlineContext()

    private static let waiting = ThreadLocal()

    private init() {}

    /// False: several threads may run handlers at the same time.
    public var isSerial: Bool { false }

    /// False: no thread is this context's own.
    public var isCurrent: Bool { false }

    /// Runs the job now, or when the inline handler that called has returned.
    public func enqueue(_ job: consuming PromiseJob) {
        let place = InlineContext.waiting
        if let outer = unsafe place.pointer {
            unsafe outer.assumingMemoryBound(to: JobList.self).pointee.append(job)
            return
        }
        var later = JobList()
        later.append(job)
        unsafe withUnsafeMutablePointer(to: &later) { later in
            unsafe place.pointer = UnsafeMutableRawPointer(later)
            while let node = unsafe later.pointee.popNode() { node.take().run() }
            unsafe place.pointer = nil
        }
    }

    /// Runs the job after a delay, on a thread of Swift's global executor. Called from any thread,
    /// and so is `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }
}

extension ExecutionContext where Self == InlineContext {
    /// Handlers run at once, where the promise is settled; see `InlineContext`.
    public static var inline: InlineContext { .shared }
}
