/// Makes local promises, which are confined to one thread.
///
/// It is not `Sendable`, and is made only on the thread of its context; so the compiler proves that
/// local promises stay on their thread. An event loop makes one for itself; other code receives one
/// inside `LocalContext.run(on:readyQueue:_:)`.
public final class LocalContext {
    /// Where the handlers of its promises run.
    public let context: any ExecutionContext

    /// The ready queue of the thread, if its event loop provides one.
    @usableFromInline let readyQueue: ReadyQueue?

    /// A local context for an event loop that owns its thread.
    ///
    /// - Parameters:
    ///   - context: the thread-safe context of the loop. Called on the thread of the loop, its
    ///     `enqueue` must append to the same `readyQueue`.
    ///   - readyQueue: the loop's ready queue; confined promises are put there directly.
    package init(on context: any ExecutionContext, readyQueue: ReadyQueue? = nil) {
        self.context = context
        self.readyQueue = readyQueue
    }

    @inlinable
    var placement: Placement {
        unsafe .local(self, readyQueue.map { unsafe Unmanaged.passUnretained($0) })
    }

    /// Calls `body` with a local context, on the context that the caller runs on.
    ///
    /// Traps when called on another context. The body is `@Sendable` and captures nothing that is
    /// confined, so it cannot store the local context outside.
    ///
    /// - Parameters:
    ///   - context: the context that the caller runs on.
    ///   - readyQueue: the context's own ready queue, if it is a `ReadyQueue`: the one to which its
    ///     `enqueue` appends on this thread. Handlers are then put there directly.
    ///   - body: called now, inside this call, with the local context.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    public static func run<Result: Sendable>(
        on context: any ExecutionContext, readyQueue: ReadyQueue? = nil,
        _ body: @Sendable (LocalContext) throws -> Result
    ) rethrows -> Result {
        precondition(context.isCurrent, "LocalContext.run was called outside of its context")
        return try body(LocalContext(on: context, readyQueue: readyQueue))
    }
}

@available(*, unavailable)
extension LocalContext: Sendable {}
