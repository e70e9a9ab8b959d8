// `any`: waits for every member, and is content with one value.

extension Node {
    @inlinable
    static func any<Key: Hashable & Sendable, Face: PromiseFace>(
        _ members: [(key: Key, promise: Face)], placement: Placement
    ) -> Node {
        typealias Output = AnyResult<Key, Face.Value>
        if members.isEmpty {
            return .failed(ErrorDictionary<Key>([]), as: Output.self, placement: placement)
        }
        let result = Node.gathering(Output.self, count: members.count, placement: placement)
        result.onArrival { $0.oneHasArrived(keyedBy: Key.self, of: Face.Value.self) }
        let inputSlots = members.map { key, promise in
            if promise.node.becomesOwnInputSlot(in: result) {
                return AnyMember(key: key, inputSlot: promise.node, isItself: true)
            }
            let inputSlot = result.inputSlot(Face.Value.self, at: promise.node) { inputSlot in
                inputSlot.arrive(Face.Value.self)?
                    .oneHasArrived(keyedBy: Key.self, of: Face.Value.self)
            }
            return AnyMember(key: key, inputSlot: inputSlot, isItself: false)
        }
        result.write(Output(inputSlots))
        result.setStep { $0.release(inputSlots) }
        _ = result.claim.insert(Claim.started)
        wait(inputSlots, at: members)
        return result
    }

    /// Lets each input slot that is not the member itself wait for its member. All are counted
    /// before the first one can arrive (see `wait(_:at:)` for lists of nodes).
    @inlinable
    static func wait<Key, Face: PromiseFace>(
        _ inputSlots: [AnyMember<Key>], at members: [(key: Key, promise: Face)]
    ) {
        for index in inputSlots.indices where !inputSlots[index].isItself {
            _ = members[index].promise.node.claim.add(Claim.consumer)
        }
        for index in inputSlots.indices where !inputSlots[index].isItself {
            members[index].promise.node.push(inputSlots[index].inputSlot)
        }
    }

    /// Withdraws from the members that have not arrived.
    @inlinable
    func release<Key>(_ members: [AnyMember<Key>]) {
        release(members.filter { !$0.isItself }.map(\.inputSlot))
        for member in members where member.isItself { member.inputSlot.withdrawInput(from: self) }
    }

    @inlinable
    func oneHasArrived<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard isComplete(AnyResult<Key, Value>.self) else { return }
        concludeSoon { $0.concludeAny(keyedBy: Key.self, of: Value.self) }
    }

    /// The result is already written; it becomes an error only if no member has a value.
    @inlinable
    func concludeAny<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard decide() else { return }
        let members = value(as: AnyResult<Key, Value>.self).members
        if members.contains(where: \.inputSlot.isFulfilled) { return publish(State.fulfilled) }
        clear()
        write(error: ErrorDictionary(members.map { (key: $0.key, error: $0.inputSlot.error) }))
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
    .init(
        Node.any(members, placement: members.first?.promise.node.placement ?? .beginning(on: nil)))
}

extension LocalContext {
    /// Waits for all members, then gives what they brought if it was at least one value; else
    /// rejects with `ErrorDictionary`.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    public func any<Key: Hashable & Sendable, Value>(
        _ promises: [Key: LocalPromise<Value>]
    ) -> LocalPromise<AnyResult<Key, Value>> {
        any(promises.map { (key: $0.key, promise: $0.value) })
    }

    /// Waits for all members, then gives what they brought, in their order, if it was at least one
    /// value; else rejects with `ErrorDictionary`.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func any<Key: Hashable & Sendable, Value>(
        _ members: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalPromise<AnyResult<Key, Value>> {
        .init(Node.any(members, placement: placement))
    }
}
