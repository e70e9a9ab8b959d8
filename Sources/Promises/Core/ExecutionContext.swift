/// Where handlers run: an event loop, a queue, an executor.
///
/// A context runs its jobs one at a time, in the order in which they were enqueued, and never
/// inside `enqueue`. For a loop of your own, a `ReadyQueue` is the ready queue and an `Inbox` the entry
/// for other threads; for what Swift's concurrency or Dispatch runs there are `ExecutorContext`
/// and, in the module `PromisesDispatch`, `QueueContext`.
public protocol ExecutionContext: AnyObject, Sendable {
    /// Whether jobs run one at a time, in order. True by default; false for `.inline` and
    /// `BlockingPool` do not keep that order, and operators that keep state between turns leave
    /// such a context for `SharedPool`.
    var isSerial: Bool { get }

    /// Whether the caller runs on this context, so that none of its jobs can run meanwhile. Read
    /// on any thread.
    var isCurrent: Bool { get }

    /// Runs the job soon, behind those that wait already, and never inside this call. Called from
    /// any thread.
    ///
    /// Every job must be run: one that is dropped leaks what it would have run.
    func enqueue(_ job: consuming PromiseJob)

    /// Runs the job after a delay; at once, but not inside this call, if it is zero or negative.
    /// Called on this context only, and so is `cancel` of what it returns. The library asks for no
    /// more than 136 years.
    ///
    /// When the time has come, `run()` may be called from any thread, or the job may be given to
    /// `enqueue`.
    ///
    /// - Returns: what drops the job if it has not run; dropping a job that has run does nothing.
    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable

    /// The reading of the clock that `schedule` counts on, from a fixed start. Read on any thread,
    /// so that a delay counts from the call that starts it and not from the turn that schedules
    /// it. The system's clock unless a context has a time of its own.
    var clockReading: Duration { get }

    /// Whether this context cannot run its jobs while the caller blocks; `wait` then throws. The
    /// same as `isCurrent` by default. Read on any thread.
    var isBlockedByCaller: Bool { get }
}

extension ExecutionContext {
    /// True.
    public var isSerial: Bool { true }

    /// The system's monotonic clock.
    public var clockReading: Duration { SystemClock.reading }

    /// Whether the caller runs on this context.
    public var isBlockedByCaller: Bool { isCurrent }
}
