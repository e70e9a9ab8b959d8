// `any`: waits for every member, and is content with one value.

extension Node {
    @inlinable
    static func any<Key: Hashable & Sendable, Face: PromiseFace>(
        _ members: [(key: Key, promise: Face)], home: Home
    ) -> Node {
        typealias Output = AnyResult<Key, Face.Value>
        if members.isEmpty { return .failed(ErrorDictionary<Key>([]), as: Output.self, home: home) }
        let result = Node.gathering(Output.self, count: members.count, home: home)
        result.onArrival { $0.oneHasArrived(keyedBy: Key.self, of: Face.Value.self) }
        let seats = members.map { key, promise in
            if promise.node.sitsForItself(in: result) {
                return AnyMember(key: key, seat: promise.node, isItself: true)
            }
            let seat = result.seat(Face.Value.self, at: promise.node) { seat in
                seat.arrive(Face.Value.self)?
                    .oneHasArrived(keyedBy: Key.self, of: Face.Value.self)
            }
            return AnyMember(key: key, seat: seat, isItself: false)
        }
        result.write(Output(seats))
        result.setStep { $0.release(seats) }
        _ = result.claim.insert(Claim.started)
        wait(seats, at: members)
        return result
    }

    /// Lets each seat that is not the member itself wait for its member. All are counted before the
    /// first one can arrive (see `wait(_:at:)` for lists of nodes).
    @inlinable
    static func wait<Key, Face: PromiseFace>(
        _ seats: [AnyMember<Key>], at members: [(key: Key, promise: Face)]
    ) {
        for index in seats.indices where !seats[index].isItself {
            _ = members[index].promise.node.claim.add(Claim.consumer)
        }
        for index in seats.indices where !seats[index].isItself {
            members[index].promise.node.push(seats[index].seat)
        }
    }

    /// Lets go of the members that have not arrived.
    @inlinable
    func release<Key>(_ members: [AnyMember<Key>]) {
        release(members.filter { !$0.isItself }.map(\.seat))
        for member in members where member.isItself { member.seat.standUp(from: self) }
    }

    @inlinable
    func oneHasArrived<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard isComplete(AnyResult<Key, Value>.self) else { return }
        concludeSoon { $0.concludeAny(keyedBy: Key.self, of: Value.self) }
    }

    /// The answer is already in place; only when nobody brought a value it becomes an error.
    @inlinable
    func concludeAny<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard decide() else { return }
        let members = value(as: AnyResult<Key, Value>.self).members
        if members.contains(where: \.seat.isFulfilled) { return publish(State.fulfilled) }
        clear()
        write(error: ErrorDictionary(members.map { (key: $0.key, error: $0.seat.error) }))
        publish(State.rejected)
    }
}

/// Waits for all members, then gives what they brought if it was at least one value; else rejects
/// with `ErrorDictionary`.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Promise<AnyResult<Key, Value>> {
    any(promises.map { (key: $0.key, promise: $0.value) })
}

/// Waits for all members, then gives what they brought, in their order, if it was at least one
/// value; else rejects with `ErrorDictionary`.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
@inlinable
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ members: [(key: Key, promise: Promise<Value>)]
) -> Promise<AnyResult<Key, Value>> {
    .init(Node.any(members, home: members.first?.promise.node.home ?? .beginning(on: nil)))
}

extension Core {
    /// Waits for all members, then gives what they brought if it was at least one value; else
    /// rejects with `ErrorDictionary`.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    public func any<Key: Hashable & Sendable, Value>(
        _ promises: [Key: Local<Value>]
    ) -> Local<AnyResult<Key, Value>> {
        any(promises.map { (key: $0.key, promise: $0.value) })
    }

    /// Waits for all members, then gives what they brought, in their order, if it was at least one
    /// value; else rejects with `ErrorDictionary`.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func any<Key: Hashable & Sendable, Value>(
        _ members: [(key: Key, promise: Local<Value>)]
    ) -> Local<AnyResult<Key, Value>> {
        .init(Node.any(members, home: home))
    }
}
