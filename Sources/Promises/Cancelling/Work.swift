/// A piece of work that is done once: subclass it and override `main`.
///
/// Its promise is made by `start`, which is also what keeps the work alive until it is settled. The
/// state moves forward only.
///
/// Unchecked, because it is open: a subclass answers for what it adds. Here all is behind a lock.
open class Work<Input: Sendable, Output: Sendable>: Cancellable, @unchecked Sendable {
    /// How far it has come.
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

    /// Does the work; called once, on the context of `start`, in a turn of its own. Not called when
    /// the work was cancelled before its turn.
    ///
    /// Settle the resolver now, or keep it and settle it later. The default implementation drops
    /// it, which rejects with `PromiseError.abandoned`.
    ///
    /// - Parameters:
    ///   - input: what `start` was given.
    ///   - resolver: the write side of the promise that `start` gave.
    open func main(_ input: Input, _ resolver: consuming Resolver<Output>) {}

    /// Called once, on the context of `start`, when the work was cancelled before it was settled:
    /// stop what is running. Also called when it was cancelled before `main`, or even before
    /// `start`.
    open func wasCancelled(because cause: (any Error)?) {}

    /// How far it has come: a snapshot, from any thread.
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

    /// Has `main` called soon, never inside this call, on a context, or else on the current one or
    /// the pool.
    ///
    /// The promise is what `main` makes of its resolver; cancelling it cancels the work. A second
    /// start gives a promise rejected with `PromiseError.badInput`, and a start after `cancel`
    /// gives a cancelled one.
    ///
    /// - Parameters:
    ///   - input: what `main` is given.
    ///   - context: where `main`, `wasCancelled` and the handlers run.
    ///   - pool: what may cancel the promise.
    public final func start(
        with input: Input, on context: (any ExecutionContext)? = nil,
        in pool: CancellationPool? = nil
    ) -> Promise<Output> {
        let node = Node.root(Output.self, placement: .beginning(on: context))
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
            tellOfCancellation(of: node)
            node.cancel(with: reason)
        case .pending:
            tellOfCancellation(of: node)
            node.placement.context.enqueue(
                .job(on: node.placement) { [self] _ in run(node, input) })
            pool?.add(promise)
        }
        return promise
    }

    private func tellOfCancellation(of node: Node) {
        node.onCancel { [self] in wasCancelled(because: $0.cancellationCause) }
    }

    private func run(_ node: Node, _ input: Input) {
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
    /// Has `main` called soon, for work that needs no input; cancelling the promise cancels the
    /// work. See `start(with:on:in:)`.
    public final func start(
        on context: (any ExecutionContext)? = nil, in pool: CancellationPool? = nil
    ) -> Promise<Output> {
        start(with: (), on: context, in: pool)
    }
}
