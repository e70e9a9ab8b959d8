/// An execution context as an executor of Swift's concurrency: `async` code runs on the context,
/// between its promise handlers, in the order in which it became ready.
///
/// As a task executor it runs a task on the context whenever the task is not isolated to an actor:
///
///     Task(executorPreference: ContextExecutor(context)) { await work() }
///
/// As a serial executor it runs an actor there, which may then use what is confined to the context:
///
///     actor Session {
///         private let executor: ContextExecutor
///         nonisolated var unownedExecutor: UnownedSerialExecutor {
///             executor.asUnownedSerialExecutor()
///         }
///     }
///
/// An actor needs a context that runs one job at a time (`ExecutionContext.isSerial`): `.inline`
/// runs jobs of several threads at once and would not protect the actor's state, so the process
/// traps.
///
/// One job of the context, and one allocation, for each time that a task becomes ready.
public final class ContextExecutor: TaskExecutor, SerialExecutor {
    /// Where the jobs run.
    public let context: any ExecutionContext

    /// An executor that runs its jobs on a context, which it keeps alive.
    public init(_ context: any ExecutionContext) {
        self.context = context
    }

    /// Runs the job soon on the context, in a turn of its own, behind the handlers that wait
    /// already. Called by Swift's concurrency, from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let body: (Node) -> Void = { [self] _ in
            guard context.isSerial else {
                return unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        context.enqueue(.job(on: .context(context), body))
    }

    /// This executor for an actor, which must keep it alive: a reference that is not counted.
    ///
    /// Traps when the context does not run one job at a time, as `.inline` does not: an actor there
    /// would not be isolated.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        precondition(
            context.isSerial,
            "an actor needs a context that runs one job at a time; this one, such as .inline, does not"
        )
        return unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// This executor for a task, which keeps it alive itself.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Traps when the caller does not run on the context. Called by `assumeIsolated` and the like.
    public func checkIsolated() {
        precondition(context.isCurrent, "not on the context of this executor")
    }

    /// Whether the caller runs on the context. Called by Swift's concurrency before it traps.
    public func isIsolatingCurrentContext() -> Bool? { context.isCurrent }
}
