/// The right to make `LocalPromise` promises: one thread's, and never another's.
///
/// Not `Sendable`, and made only where its context runs; so what begins with a core can be proved
/// by the compiler to stay on its thread. An event loop makes one for itself; everyone else gets
/// one for the length of `LocalContext.run(on:turn:_:)`.
public final class LocalContext {
    /// Where the handlers of its promises run.
    public let context: any ExecutionContext

    /// The ready queue of the thread, if the loop that owns it handed it over.
    @usableFromInline let readyQueue: ReadyQueue?

    /// For a loop that owns its thread.
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

    /// Calls `body` with a core of the context that the caller runs on.
    ///
    /// Traps when called from elsewhere. The body can neither keep the core nor let it out: it is
    /// `@Sendable`, so it captures nothing that is confined.
    ///
    /// - Parameters:
    ///   - context: where the caller runs.
    ///   - readyQueue: the context's own ready queue, if it is a `ReadyQueue`: the one to which its `enqueue`
    ///     appends on this thread. Handlers are then put there directly.
    ///   - body: what is done with the core, now, inside this call.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
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
