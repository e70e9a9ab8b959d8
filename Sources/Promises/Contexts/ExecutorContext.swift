/// An executor of Swift's concurrency as a context: handlers run on its threads, one at a time and
/// in order, even if the executor has several.
///
///     let workers = ExecutorContext(threadPool)
///     promise.map(on: workers) { image in image.scaled() }
///
/// An executor that has no thread left while its threads block in `wait` runs no handler: `wait`
/// then needs a limit. Only on `globalConcurrentExecutor` the library adds threads, as on
/// `SharedPool`.
///
/// `ContextExecutor` does the opposite: it makes an executor of a context.
public final class ExecutorContext: ExecutionContext {
    /// Where the handlers run.
    public let executor: any TaskExecutor

    private let serialQueue: SerialQueue

    /// A context on an executor. Two contexts on one executor have no order between them.
    public init(_ executor: any TaskExecutor) {
        self.executor = executor
        if executor === globalConcurrentExecutor {
            serialQueue = SerialQueue { body in GrowingExecutor.shared.enqueue(body) }
            return
        }
        // Detached: handlers must not see the task-local values, or run with the priority, of the
        // task that woke the executor.
        serialQueue = SerialQueue { body in Task.detached(executorPreference: executor) { body() } }
    }

    /// Whether the caller is a handler on this context.
    public var isCurrent: Bool { serialQueue.isCurrent }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    public func enqueue(_ job: consuming PromiseJob) { serialQueue.enqueue(job) }

    /// Runs the job after a delay on the clock of the system. Called from any thread, and so is
    /// `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }
}
