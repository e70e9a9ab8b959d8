/// Where handlers run: an event loop, a queue, an executor.
///
/// A context runs its jobs one at a time, in the order in which they were enqueued, and never
/// inside `enqueue`. An event loop uses a `ReadyQueue` for its jobs and an `Inbox` for jobs of
/// other threads. `ExecutorContext` adapts executors of Swift's concurrency, and `QueueContext` of
/// the module `PromisesDispatch` adapts dispatch queues.
public protocol ExecutionContext: AnyObject, Sendable {
    /// Whether jobs run one at a time, in order. True by default; false for `.inline` and
    /// `BlockingPool`. Operators that keep state between turns run on `SharedPool` instead of such
    /// a context; on it they call the closures that start work.
    var isSerial: Bool { get }

    /// Whether the caller runs on this context, so that none of its jobs can run at the same time.
    /// Read on any thread.
    var isCurrent: Bool { get }

    /// Runs the job soon, behind those that wait already, and never inside this call. Called from
    /// any thread.
    ///
    /// Every job must be run: one that is dropped leaks what it would have run.
    func enqueue(_ job: consuming PromiseJob)

    /// Runs the job after a delay; at once, but not inside this call, if it is zero or negative.
    /// Called on this context only, and so is `cancel` of what it returns. The library never passes
    /// more than 136 years.
    ///
    /// After the delay, the context may call the job's `run()` on any thread, or pass the job to
    /// `enqueue`.
    ///
    /// - Returns: an object whose `cancel` drops the job if it has not run, and else does nothing.
    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable

    /// The time of the clock that `schedule` uses, from a fixed start. Read on any thread, so that
    /// a delay counts from the call that starts it and not from the turn that schedules it. By
    /// default the system's monotonic clock.
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
