/// One piece of work at a time for each key: callers that arrive while it runs get the same
/// outcome.
///
/// Nothing is stored when it is done; the next caller starts the work again. Keys are compared and
/// hashed with a lock held: their `==` and `hash(into:)` must not use the coalescer.
public final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Guarded<[Key: Node]>([:])

    /// Begins with nothing running.
    public init() {}

    /// How many keys are being worked on. A snapshot, from any thread.
    public var count: Int { running.withLock { $0.count } }

    /// The outcome of the work that runs for this key, or of `start` if none does.
    ///
    /// `start` is called inside this call, on this thread, with no lock held; what it throws
    /// rejects. Every caller is one consumer: cancelling the result withdraws that one, and
    /// the work itself is cancelled when the last has withdrawn. A later caller starts it again.
    ///
    /// Handlers run on `context`, or else on the current one or the pool, in turns of their own.
    public func value(
        for key: Key, on context: (any ExecutionContext)? = nil,
        _ start: () throws -> Promise<Value>
    ) -> Promise<Value> {
        let placement = Placement.beginning(on: context)
        while true {
            let (work, isNew) = join(key, placement: placement)
            let mine = Node.make(Value.self, placement: placement, parent: work) {
                $0.inherit(Value.self)
            }
            // The last consumer may have withdrawn in between; then this work must not be joined.
            guard work.gains(mine) else { continue }
            if isNew { begin(work, for: key, start) }
            return Promise(mine)
        }
    }

    private func join(_ key: Key, placement: Placement) -> (work: Node, isNew: Bool) {
        let (work, isNew, former) = running.withLock { running -> (Node, Bool, Entry?) in
            if let work = running[key], !work.isDecided { return (work, false, nil) }
            let former = Coalescer.remove(key, from: &running)
            let work = Node.root(Value.self, placement: placement)
            running[key] = work
            return (work, true, former)
        }
        // Not under the lock: it may be the last to hold the user's key.
        _ = former
        return (work, isNew)
    }

    private func begin(_ work: Node, for key: Key, _ start: () throws -> Promise<Value>) {
        work.whenSettled(on: .inline) { [weak self] (_: Result<Value, any Error>) in
            self?.end(work, of: key)
        }
        do {
            work.follow(try start().node) { $0.inherit(Value.self) }
        } catch {
            work.reject(error)
        }
    }

    private func end(_ work: Node, of key: Key) {
        let former = running.withLock { running -> Entry? in
            guard let current = running[key], current === work else { return nil }
            return Coalescer.remove(key, from: &running)
        }
        // Not under the lock: it may be the last to hold the user's key.
        _ = former
    }

    private typealias Entry = (key: Key, value: Node)

    /// Moves an entry out with the key that was kept, which may be another than the equal one that
    /// is asked for.
    private static func remove(_ key: Key, from running: inout [Key: Node]) -> Entry? {
        running.index(forKey: key).map { running.remove(at: $0) }
    }
}

extension Node {
    /// Lets `child` wait as a consumer. False if this node has been cancelled, or is just being
    /// settled in a way that cannot be seen yet.
    fileprivate func gains(_ child: Node) -> Bool {
        let isDecided = claim.add(Claim.consumer) & Claim.decided != 0
        if isDecided, isPending || isRejected && error is Cancelled {
            _ = child.takeParent()
            return false
        }
        push(child)
        return true
    }
}
