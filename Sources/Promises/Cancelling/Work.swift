/// A piece of work that is done once: subclass it and override `main`.
///
/// `start` makes its promise, which keeps the work alive until it is settled. The state moves
/// forward only.
///
/// Unchecked `Sendable`, because the class is open: a subclass is responsible for what it adds. The
/// state of this class is behind a lock.
open class Work<Input: Sendable, Output: Sendable>: Cancellable, @unchecked Sendable {
    /// The state of the work.
    public enum State: Sendable {
        /// Not started.
        case pending
        /// Started, and waiting for its turn.
        case enqueued
        /// `main` has been called.
        case executing
        /// Its promise has a value.
        case completed
        /// Its promise has an error.
        case failed
        /// Cancelled, before its start or after.
        case cancelled
    }

    private enum Progress {
        case pending
        case cancelled(Cancelled)
        case enqueued(Node)
        case executing(Node)
    }

    private let progress = Guarded(Progress.pending)

    /// Work that has not been started.
    public init() {}

    /// Does the work. Called once, on the context of `start`, in a turn of its own; not called if
    /// the work was cancelled before its turn.
    ///
    /// Settle the resolver now, or keep it and settle it later. The default implementation drops
    /// it, which rejects with `PromiseError.abandoned`.
    ///
    /// - Parameters:
    ///   - input: the input that was passed to `start`.
    ///   - resolver: the write side of the promise that `start` returned.
    open func main(_ input: Input, _ resolver: consuming Resolver<Output>) {}

    /// Stops what is running. Called once, on the context of `start`, when the work is cancelled
    /// before it is settled; also when it was cancelled before `main` or before `start`. Not called
    /// once the resolver follows another promise.
    open func wasCancelled(because cause: (any Error)?) {}

    /// The state of the work: a snapshot, from any thread.
    public final var state: State {
        switch progress.withLock({ $0 }) {
        case .pending: .pending
        case .cancelled: .cancelled
        case .enqueued(let node): Work.state(of: node) ?? .enqueued
        case .executing(let node): Work.state(of: node) ?? .executing
        }
    }

    private static func state(of node: Node) -> State? {
        switch PromiseState(node.result(as: Output.self)) {
        case .pending: nil
        case .fulfilled: .completed
        case .cancelled: .cancelled
        case .rejected: .failed
        }
    }

    /// Starts the work: calls `main` soon, never inside this call, on `context`, or else on the
    /// current context or `SharedPool`.
    ///
    /// `main` settles the promise through its resolver; cancelling the promise cancels the work. A
    /// second start returns a promise rejected with `PromiseError.badInput`, and a start after
    /// `cancel` returns a cancelled one.
    ///
    /// - Parameters:
    ///   - input: the argument of `main`.
    ///   - context: where `main`, `wasCancelled` and the handlers run.
    ///   - pool: a pool that the promise is added to.
    public final func start(
        with input: Input, on context: (any ExecutionContext)? = nil,
        in pool: CancellationPool? = nil
    ) -> Promise<Output> {
        let node = Node.root(Output.self, placement: .forNewChain(on: context))
        let promise = Promise<Output>(node)
        let former = progress.withLock { progress in
            let former = progress
            switch former {
            case .pending, .cancelled: progress = .enqueued(node)
            case .enqueued, .executing: break
            }
            return former
        }
        switch former {
        case .enqueued, .executing:
            node.reject(PromiseError.badInput)
        case .cancelled(let reason):
            callWasCancelled(onCancelOf: node)
            node.cancel(with: reason)
        case .pending:
            callWasCancelled(onCancelOf: node)
            node.placement.context.enqueue(
                .job(on: node.placement) { [self] _ in callMain(node, input) })
            pool?.add(promise)
        }
        return promise
    }

    private func callWasCancelled(onCancelOf node: Node) {
        node.onCancel { [self] in wasCancelled(because: $0.cancellationCause) }
    }

    private func callMain(_ node: Node, _ input: Input) {
        if node.isDecided { return }
        progress.withLock { $0 = .executing(node) }
        main(input, Resolver(node))
    }

    /// Cancels the work, if it is not settled: its promise is rejected with `Cancelled` when this
    /// returns, and `wasCancelled` is called in a turn of its own. Called from any thread.
    public final func cancel(because cause: (any Error)? = nil) {
        let reason = Cancelled(because: cause)
        let node: Node? = progress.withLock { progress in
            switch progress {
            case .pending:
                progress = .cancelled(reason)
                return nil
            case .cancelled: return nil
            case .enqueued(let node), .executing(let node): return node
            }
        }
        node?.cancel(with: reason)
    }
}

extension Work where Input == Void {
    /// Starts work that needs no input: calls `main` soon; cancelling the promise cancels the work.
    /// See `start(with:on:in:)`.
    public final func start(
        on context: (any ExecutionContext)? = nil, in pool: CancellationPool? = nil
    ) -> Promise<Output> {
        start(with: (), on: context, in: pool)
    }
}
