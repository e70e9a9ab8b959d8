/// Where handlers run: an event loop, a queue, an actor's executor.
///
/// A context runs its jobs one at a time, in the order in which they were enqueued, and never
/// inside `enqueue`.
public protocol ExecutionContext: AnyObject, Sendable {
    /// Whether the caller runs on this context.
    var isCurrent: Bool { get }

    /// Runs the job soon. Called from any thread.
    func enqueue(_ job: consuming PromiseJob)

    /// Runs the job after a delay; at once, but not inside this call, if it is zero or negative.
    /// Called on this context only, and so is `cancel` of what it returns.
    ///
    /// - Returns: what drops the job if it has not run; dropping a job that has run does nothing.
    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable
}
