// `all`: every value, or the first error.

extension Node {
    @inlinable
    static func all<Value, Output>(
        _ members: [Node], of type: Value.Type, placement: Placement,
        _ combine: @escaping ([Value]) -> Output
    ) -> Node {
        if members.isEmpty { return .settled(combine([]), placement: placement) }
        let result = Node.gathering(Output.self, count: members.count, placement: placement)
        let inputSlots = members.map { member in
            result.inputSlot(Value.self, at: member) { inputSlot in
                guard let result = inputSlot.arrive(Value.self) else { return }
                if inputSlot.isRejected {
                    result.concludeEarly(Result<Output, any Error>.failure(inputSlot.error))
                } else if result.isComplete(Output.self) {
                    result.conclude { inputSlots in
                        .success(combine(inputSlots.map { $0.value(as: Value.self) }))
                    }
                }
            }
        }
        result.write(inputSlots)
        result.gather(inputSlots, at: members)
        return result
    }

    /// Where a combinator without a context of its own delivers: with its first member.
    @inlinable
    static func placement(of members: [Node]) -> Placement {
        members.first?.placement ?? .beginning(on: nil)
    }
}

/// Every value in the order of the promises, or the first error; the others are then withdrawn
/// from. Nothing gives nothing.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func all<Value: Sendable>(_ promises: some Collection<Promise<Value>>) -> Promise<[Value]> {
    let members = promises.map(\.node)
    return .init(Node.all(members, of: Value.self, placement: Node.placement(of: members)) { $0 })
}

/// Every value by its key, or the first error; the others are then withdrawn from.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func all<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Promise<[Key: Value]> {
    all(promises.map { (key: $0.key, promise: $0.value) })
}

/// Every value by its key, or the first error; the others are then withdrawn from.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func all<Key: Hashable & Sendable, Value: Sendable>(
    _ members: [(key: Key, promise: Promise<Value>)]
) -> Promise<[Key: Value]> {
    let nodes = members.map(\.promise.node)
    let keys = members.map(\.key)
    return .init(
        Node.all(nodes, of: Value.self, placement: Node.placement(of: nodes)) { values in
            Dictionary(zip(keys, values)) { first, _ in first }
        })
}

extension LocalContext {
    /// Every value in the order of the promises, or the first error; the others are then withdrawn
    /// from. Nothing gives nothing.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func all<Value>(_ promises: some Collection<LocalPromise<Value>>) -> LocalPromise<
        [Value]
    > {
        .init(Node.all(promises.map(\.node), of: Value.self, placement: placement) { $0 })
    }

    /// Every value by its key, or the first error; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    public func all<Key: Hashable, Value>(_ promises: [Key: LocalPromise<Value>]) -> LocalPromise<
        [Key: Value]
    > {
        all(promises.map { (key: $0.key, promise: $0.value) })
    }

    /// Every value by its key, or the first error; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func all<Key: Hashable, Value>(
        _ members: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalPromise<[Key: Value]> {
        let keys = members.map(\.key)
        return .init(
            Node.all(members.map(\.promise.node), of: Value.self, placement: placement) { values in
                Dictionary(zip(keys, values)) { first, _ in first }
            })
    }
}
