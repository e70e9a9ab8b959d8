/// The default context: Swift's global executor, **one job at a time**.
///
/// All handlers of the process without a context share it, so one handler that blocks or computes
/// for long stops all others. Run such work on another context: `BlockingPool` runs blocking work
/// in parallel, an `ExecutorContext` or a `QueueContext` is a queue of its own.
///
/// While threads block in `wait`, the handlers run on a thread of the library, so that they need no
/// thread of the executor.
public final class SharedPool: ExecutionContext {
    /// The one pool of the process.
    public static let shared = SharedPool()

    private let serialQueue = SerialQueue { body in GrowingExecutor.shared.enqueue(body) }

    private init() {}

    /// Whether the caller is a handler on the pool; false in a task that a handler started.
    public var isCurrent: Bool { serialQueue.isCurrent }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    public func enqueue(_ job: consuming PromiseJob) { serialQueue.enqueue(job) }

    /// Runs the job after a delay on the clock of the system. Called from any thread, and so is
    /// `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }
}
