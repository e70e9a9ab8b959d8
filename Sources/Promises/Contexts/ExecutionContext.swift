/// Where handlers run: an event loop, a queue, an executor.
///
/// A context runs its jobs one at a time, in the order in which they were enqueued, and never
/// inside `enqueue`. For a loop of your own, a `Turn` is the ready queue and an `Inbox` the door
/// for other threads; for what Swift's concurrency or Dispatch runs there are `ExecutorContext`
/// and, in the module `PromisesDispatch`, `QueueContext`.
public protocol ExecutionContext: AnyObject, Sendable {
    /// Whether the caller runs on this context, so that none of its jobs can run meanwhile. Asked
    /// on any thread.
    var isCurrent: Bool { get }

    /// Runs the job soon, behind those that wait already, and never inside this call. Called from
    /// any thread.
    ///
    /// Every job must be run: one that is dropped leaks what it would have run.
    func enqueue(_ job: consuming PromiseJob)

    /// Runs the job after a delay; at once, but not inside this call, if it is zero or negative.
    /// Called on this context only, and so is `cancel` of what it returns.
    ///
    /// - Returns: what drops the job if it has not run; dropping a job that has run does nothing.
    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable
}
