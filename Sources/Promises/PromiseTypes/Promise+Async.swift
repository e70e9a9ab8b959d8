// Promises in `async` code, and `async` code in promises; cancellation works in both directions.

extension Promise {
    /// Waits in a task for the value or the error; continues on the task's executor.
    ///
    /// The task is a consumer: cancelling it withdraws from the work, which stops when no other
    /// consumer waits for it.
    ///
    /// - Throws: the promise's error; `CancellationError` when the task is cancelled, without
    ///   waiting for the promise or for its context. The two cancellations are different errors: a
    ///   `CancellationError` says that this task must end, as it does everywhere in `async` code,
    ///   and is thrown in no other case; `Cancelled` means that another consumer cancelled the
    ///   promise, with the cause, while this task may go on.
    public func get() async throws -> Value {
        let waiter = Promise(node.link(Value.self) { $0.inherit(Value.self) })
        let suspension = Suspension<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard suspension.begin(continuation) else {
                    waiter.cancel(because: CancellationError())
                    return continuation.resume(throwing: CancellationError())
                }
                waiter.whenSettled { suspension.end()?.resume(with: $0) }
            }
        } onCancel: {
            // Ended first, so that the promise's `Cancelled` does not resume the task; resumed
            // last, so that the task finds the promise cancelled.
            let continuation = suspension.end()
            waiter.cancel(because: CancellationError())
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Runs `async` work in a new task, which starts soon; a throw rejects.
    ///
    /// With a context, the work runs on it between its suspensions, and handlers run there. Without
    /// one the work runs on Swift's global executor, and handlers on the current context, or else
    /// on `SharedPool`. Cancelling the promise cancels the task; a `CancellationError` that the
    /// work throws, then or by itself, becomes the promise's `Cancelled`.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line,
        awaiting body: @escaping @Sendable () async throws -> Value
    ) {
        let resolver = Resolver<Value>(on: context, file: file, line: line).shared()
        self = resolver.promise
        let executor: any TaskExecutor = context.map(ContextExecutor.init) ?? GrowingExecutor.shared
        let task = Task(executorPreference: executor) {
            do {
                resolver.settle(.success(try await body()))
            } catch {
                resolver.settle(.failure(error))
            }
        }
        resolver.onCancel { _ in task.cancel() }
    }
}

extension Guarantee {
    /// Waits in a task; continues on the task's executor. Cancelling the task changes nothing: a
    /// guarantee cannot fail. Never returns if the guarantee was abandoned.
    public func get() async -> Value {
        await withCheckedContinuation { continuation in
            done { continuation.resume(returning: $0) }
        }
    }
}

extension LocalContext {
    /// Runs `async` work on this local context, starting soon; a throw rejects.
    ///
    /// The work is `@Sendable`, because the compiler cannot prove that it stays on the thread: only
    /// the handlers may use what is confined. Cancelling the promise cancels the task; otherwise
    /// like the initialiser of `Promise` that takes `async` work.
    public func awaiting<Value: Sendable>(
        file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> LocalPromise<Value> {
        Promise(on: context, file: file, line: line, awaiting: body).on(self)
    }
}
