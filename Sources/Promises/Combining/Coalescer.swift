/// Runs one piece of work at a time for each key: callers that ask while it runs share its outcome.
///
/// No outcome is stored; the next caller starts the work again. Keys are compared and hashed with a
/// lock held: their `==` and `hash(into:)` must not use the coalescer.
public final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Guarded<[Key: Node]>([:])

    /// A coalescer without running work.
    public init() {}

    /// The number of keys with running work. A snapshot, from any thread.
    public var count: Int { running.withLock { $0.count } }

    /// The outcome of the work that runs for this key, or of `start` if none does.
    ///
    /// `start` is called inside this call, on this thread, with no lock held; what it throws
    /// rejects. Every caller is one consumer: cancelling the result withdraws that consumer, and
    /// the work is cancelled when the last one has withdrawn. A later caller starts it again.
    ///
    /// Handlers run on `context`, or else on the current context or `SharedPool`, in turns of their
    /// own.
    public func value(
        for key: Key, on context: (any ExecutionContext)? = nil,
        _ start: () throws -> Promise<Value>
    ) -> Promise<Value> {
        let placement = Placement.forNewChain(on: context)
        while true {
            let (work, isNew) = findOrMakeWork(for: key, placement: placement)
            let child = Node.make(Value.self, placement: placement, parent: work) {
                $0.inherit(Value.self)
            }
            // The last consumer may have withdrawn in between; then the work is cancelled, and the
            // loop starts another one.
            guard work.attachUnlessCancelled(child) else { continue }
            if isNew { startWork(work, for: key, start) }
            return Promise(child)
        }
    }

    private func findOrMakeWork(
        for key: Key, placement: Placement
    ) -> (work: Node, isNew: Bool) {
        let (work, isNew, former) = running.withLock { running -> (Node, Bool, Entry?) in
            if let work = running[key], !work.isDecided { return (work, false, nil) }
            let former = Coalescer.remove(key, from: &running)
            let work = Node.root(Value.self, placement: placement)
            running[key] = work
            return (work, true, former)
        }
        // Released outside the lock: this may be the last reference to the user's key.
        _ = former
        return (work, isNew)
    }

    private func startWork(_ work: Node, for key: Key, _ start: () throws -> Promise<Value>) {
        work.whenSettled(on: .inline) { [weak self] (_: Result<Value, any Error>) in
            self?.removeFinished(work, for: key)
        }
        do {
            work.follow(try start().node) { $0.inherit(Value.self) }
        } catch {
            work.reject(error)
        }
    }

    private func removeFinished(_ work: Node, for key: Key) {
        let former = running.withLock { running -> Entry? in
            guard let current = running[key], current === work else { return nil }
            return Coalescer.remove(key, from: &running)
        }
        // Released outside the lock: this may be the last reference to the user's key.
        _ = former
    }

    private typealias Entry = (key: Key, value: Node)

    /// Removes an entry and returns it with its stored key, which is equal to `key` but may be
    /// another object.
    private static func remove(_ key: Key, from running: inout [Key: Node]) -> Entry? {
        running.index(forKey: key).map { running.remove(at: $0) }
    }
}

extension Node {
    /// Attaches `child` as a consumer. False if this node was cancelled, or is decided without a
    /// visible outcome yet.
    fileprivate func attachUnlessCancelled(_ child: Node) -> Bool {
        let isDecided = control.add(ControlBits.consumer) & ControlBits.decided != 0
        if isDecided, isPending || isRejected && error is Cancelled {
            _ = child.takeParent()
            return false
        }
        push(child)
        return true
    }
}
