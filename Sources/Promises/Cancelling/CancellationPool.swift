/// Promises and other objects that are cancelled together.
///
/// The pool keeps nothing alive and may be used from any thread. Once drained it stays drained:
/// `add` then cancels at once.
public final class CancellationPool: Cancellable, Sendable {
    private struct State {
        var members: [Member] = []
        var pruneAt = 16
        var drained: Cancelled?
    }

    private enum Member {
        case promise(WeakNode)
        case object(@Sendable () -> (any Cancellable)?)

        var isAlive: Bool {
            switch self {
            case .promise(let node): node.withNode { _ in }
            case .object(let get): get() != nil
            }
        }

        func cancel(with reason: Cancelled) {
            switch self {
            case .promise(let node): _ = node.withNode { $0.cancel(with: reason) }
            case .object(let get): get()?.cancel(because: reason.cause)
            }
        }
    }

    private struct WeakNode {
        weak var object: NodeObject?

        /// Calls `body` with the node, now or in a job on the node's context; false if it is gone.
        ///
        /// Reading a node takes a reference, which may be the last one. A confined node is released
        /// on its own thread, because its value must be destroyed there.
        func withNode(_ body: @escaping (Node) -> Void) -> Bool {
            guard let node = object.map({ NodeRef(retaining: Node($0)) }) else { return false }
            let placement = node.with { $0.placement }
            if node.with({ $0.isConfined }), !placement.context.isCurrent {
                placement.context.enqueue(.job(on: placement) { _ in body(node.take()) })
            } else {
                body(node.take())
            }
            return true
        }
    }

    private let state = Guarded(State())

    /// An empty pool.
    public init() {}

    /// Cancels everything in the pool, in the order in which it was added, and everything that is
    /// added later.
    ///
    /// Promises are rejected when this returns, and their handlers run in turns of their own. A job
    /// cancels the local promises of another thread there. No lock is held meanwhile: what is
    /// cancelled may add to the pool.
    ///
    /// - Parameter cause: the reason of all cancellations. What is added later is cancelled with
    ///   the cause of the first call.
    public func drain(because cause: (any Error)? = nil) {
        let reason = Cancelled(because: cause)
        let members = state.withLock { state in
            if state.drained == nil { state.drained = reason }
            defer { state.members = [] }
            return state.members
        }
        for member in members { member.cancel(with: reason) }
    }

    /// Cancels everything in the pool, and what is added later; the same as `drain`.
    public func cancel(because cause: (any Error)?) { drain(because: cause) }

    /// Adds a promise, which the pool does not keep alive. It is cancelled at once if the pool was
    /// drained.
    public func add<Value: Sendable>(_ promise: Promise<Value>) { add(promise.node) }

    /// Adds a local promise, which the pool does not keep alive. It is cancelled at once if the
    /// pool was drained; later draining from any thread cancels it on its context.
    public func add<Value>(_ promise: LocalPromise<Value>) { add(promise.node) }

    /// Adds an object that can be cancelled from any thread; the pool does not keep it alive. It is
    /// cancelled at once, inside this call, if the pool was drained.
    public func add<Object: Cancellable & AnyObject & Sendable>(_ object: Object) {
        add([.object { [weak object] in object }])
    }

    private func add(_ node: Node) { add([.promise(WeakNode(object: node.object))]) }

    /// Stores members, or cancels them if the pool was drained.
    private func add(_ members: [Member], pruned: Bool = false) {
        let (drained, unpruned) = state.withLock { state -> (Cancelled?, [Member]?) in
            if let drained = state.drained { return (drained, nil) }
            state.members.append(contentsOf: members)
            if pruned { state.pruneAt = max(16, state.members.count * 2) }
            guard state.members.count >= state.pruneAt else { return (nil, nil) }
            defer { state.members = [] }
            return (nil, state.members)
        }
        if let drained {
            for member in members { member.cancel(with: drained) }
        } else if let unpruned {
            // Not under the lock: reading a member may free it.
            add(unpruned.filter(\.isAlive), pruned: true)
        }
    }
}

extension Promise {
    /// Adds this promise to a pool, which cancels it, and returns it; cancels at once if the pool
    /// was drained. No link is made.
    public func cancelling(with pool: CancellationPool) -> Promise {
        pool.add(self)
        return self
    }
}

extension LocalPromise {
    /// Adds this promise to a pool, which cancels it on its context, and returns it; cancels at
    /// once if the pool was drained. No link is made.
    public func cancelling(with pool: CancellationPool) -> LocalPromise {
        pool.add(self)
        return self
    }
}
