/// Many things that are cancelled together.
///
/// It keeps nothing alive, and every thread may use it. Once drained it stays drained: what is
/// added later is cancelled inside `add`.
public final class CancellationPool: Cancellable, Sendable {
    private struct State {
        var members: [Member] = []
        var pruneAt = 16
        var drained: Cancelled?
    }

    private enum Member {
        case promise(WeakNode)
        case thing(@Sendable () -> (any Cancellable)?)

        var isAlive: Bool {
            switch self {
            case .promise(let node): node.visit { _ in }
            case .thing(let get): get() != nil
            }
        }

        func cancel(with reason: Cancelled) {
            switch self {
            case .promise(let node): _ = node.visit { $0.cancel(with: reason) }
            case .thing(let get): get()?.cancel(because: reason.cause)
            }
        }
    }

    private struct WeakNode {
        weak var object: NodeObject?

        /// Hands the node to `body`, now or in a job on the node's core; false if it is gone.
        ///
        /// Reading a node takes a reference, which may be the last one. So a confined
        /// node is released on its own thread, where its value must be destroyed.
        func visit(_ body: @escaping (Node) -> Void) -> Bool {
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

    /// Cancels what still exists, in the order in which it was added, and everything that comes
    /// later.
    ///
    /// Promises are rejected when this returns, and handlers hear of it in their own turns; those
    /// of another thread's core by a job there. Nothing is locked meanwhile: what is cancelled may
    /// add to the pool.
    ///
    /// - Parameter cause: why, for everything that is cancelled. The first call's counts for what
    ///   is added later.
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

    /// Adds a promise, until it is gone. It is cancelled at once if the pool was drained.
    public func add<Value: Sendable>(_ promise: Promise<Value>) { add(promise.node) }

    /// Adds a promise of a core, until it is gone. It is cancelled at once if the pool was drained;
    /// later from anywhere, on its core.
    public func add<Value>(_ promise: LocalPromise<Value>) { add(promise.node) }

    /// Adds something that can be cancelled from any thread, until it is gone. It is cancelled at
    /// once, inside this call, if the pool was drained.
    public func add<Thing: Cancellable & AnyObject & Sendable>(_ thing: Thing) {
        add([.thing { [weak thing] in thing }])
    }

    private func add(_ node: Node) { add([.promise(WeakNode(object: node.object))]) }

    /// Keeps members, or cancels them if the pool was drained.
    private func add(_ members: [Member], pruned: Bool = false) {
        let (drained, crowd) = state.withLock { state -> (Cancelled?, [Member]?) in
            if let drained = state.drained { return (drained, nil) }
            state.members.append(contentsOf: members)
            if pruned { state.pruneAt = max(16, state.members.count * 2) }
            guard state.members.count >= state.pruneAt else { return (nil, nil) }
            defer { state.members = [] }
            return (nil, state.members)
        }
        if let drained {
            for member in members { member.cancel(with: drained) }
        } else if let crowd {
            // Not under the lock: reading a member may free it.
            add(crowd.filter(\.isAlive), pruned: true)
        }
    }
}

extension Promise {
    /// Lets a pool cancel this promise, and gives it back; at once if the pool was drained. No link
    /// is made.
    public func cancelling(with pool: CancellationPool) -> Promise {
        pool.add(self)
        return self
    }
}

extension LocalPromise {
    /// Lets a pool cancel this promise, on its core, and gives it back; at once if the pool was
    /// drained. No link is made.
    public func cancelling(with pool: CancellationPool) -> LocalPromise {
        pool.add(self)
        return self
    }
}
