/// Many things that are cancelled together.
///
/// It keeps nothing alive. Once drained it stays drained: what is added later is cancelled at once.
public final class CancellationPool: Cancellable, Sendable {
    private struct State {
        var members: [Member] = []
        var pruneAt = 16
        var drained: Cancelled?
    }

    private struct Member {
        weak var object: NodeObject?
    }

    private let state = Guarded(State())

    /// Empty.
    public init() {}

    /// Cancels what is still there, and everything that comes later.
    public func drain(because cause: (any Error)? = nil) {
        let reason = Cancelled(because: cause)
        let members = state.withLock { state in
            if state.drained == nil { state.drained = reason }
            let alive = state.members.compactMap { $0.object.map { NodeRef(retaining: Node($0)) } }
            state.members = []
            return alive
        }
        for member in members { CancellationPool.cancel(member, with: reason) }
    }

    /// Cancels everything in the pool, and what is added later; the same as `drain`.
    public func cancel(because cause: (any Error)?) { drain(because: cause) }

    /// Adds a promise, until it is gone.
    public func add<Value: Sendable>(_ promise: Promise<Value>) { add(promise.node) }

    /// Adds a promise of a core, until it is gone. The pool may be drained from anywhere.
    public func add<Value>(_ promise: Local<Value>) { add(promise.node) }

    private func add(_ node: Node) {
        let drained = state.withLock { state in
            if state.drained == nil {
                if state.members.count >= state.pruneAt {
                    state.members.removeAll { $0.object == nil }
                    state.pruneAt = max(16, state.members.count * 2)
                }
                state.members.append(Member(object: node.object))
            }
            return state.drained
        }
        if let drained { node.cancel(with: drained) }
    }

    /// A confined node is cancelled, and let go of, by its own thread.
    private static func cancel(_ member: NodeRef, with reason: Cancelled) {
        let home = member.with { $0.home }
        if member.with({ $0.isConfined }), !home.context.isCurrent {
            home.context.enqueue(.job(on: home) { _ in member.take().cancel(with: reason) })
        } else {
            member.take().cancel(with: reason)
        }
    }
}

extension Promise {
    /// Lets a pool cancel this promise.
    public func cancelling(with pool: CancellationPool) -> Promise {
        pool.add(self)
        return self
    }
}

extension Local {
    /// Lets a pool cancel this promise.
    public func cancelling(with pool: CancellationPool) -> Local {
        pool.add(self)
        return self
    }
}
