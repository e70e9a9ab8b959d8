// `allSettled`: every outcome, and never an error.

extension Node {
    @inlinable
    static func allSettled<Value, Output>(
        _ members: [Node], of type: Value.Type, placement: Placement,
        _ combine: @escaping ([Result<Value, any Error>]) -> Output
    ) -> Node {
        if members.isEmpty { return .settled(combine([]), placement: placement) }
        let result = Node.gathering(Output.self, count: members.count, placement: placement)
        let inputSlots = members.map { member in
            result.inputSlot(Value.self, at: member) { inputSlot in
                guard let result = inputSlot.arrive(Value.self), result.isComplete(Output.self)
                else { return }
                result.conclude { inputSlots in
                    .success(combine(inputSlots.compactMap { $0.result(as: Value.self) }))
                }
            }
        }
        result.write(inputSlots)
        result.gather(inputSlots, at: members)
        return result
    }
}

/// Every outcome in the order of the promises.
///
/// Handlers run on the context of the first member, in a turn after the last one has arrived. It
/// cannot fail and cannot be cancelled; a member's cancellation is one of the outcomes.
public func allSettled<Value: Sendable>(
    _ promises: some Collection<Promise<Value>>
) -> Guarantee<[Result<Value, any Error>]> {
    let members = promises.map(\.node)
    return .init(
        Node.allSettled(members, of: Value.self, placement: Node.placement(of: members)) { $0 })
}

/// Every outcome by its key.
///
/// Handlers run on the context of the first member, in a turn after the last one has arrived. It
/// cannot fail and cannot be cancelled; a member's cancellation is one of the outcomes.
public func allSettled<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Guarantee<[Key: Result<Value, any Error>]> {
    allSettled(promises.map { (key: $0.key, promise: $0.value) }).map { outcomes in
        Dictionary(outcomes.map { ($0.key, $0.result) }) { first, _ in first }
    }
}

/// Every outcome with its key, in the order of the members.
///
/// Handlers run on the context of the first member, in a turn after the last one has arrived. It
/// cannot fail and cannot be cancelled; a member's cancellation is one of the outcomes.
public func allSettled<Key: Hashable & Sendable, Value: Sendable>(
    _ members: [(key: Key, promise: Promise<Value>)]
) -> Guarantee<[(key: Key, result: Result<Value, any Error>)]> {
    let nodes = members.map(\.promise.node)
    let keys = members.map(\.key)
    return .init(
        Node.allSettled(nodes, of: Value.self, placement: Node.placement(of: nodes)) { results in
            zip(keys, results).map { (key: $0, result: $1) }
        })
}

extension LocalContext {
    /// Every outcome in the order of the promises.
    ///
    /// Handlers run on the core, in a turn after the last one has arrived. It cannot fail and
    /// cannot be cancelled; a member's cancellation is one of the outcomes.
    @inlinable
    public func allSettled<Value>(
        _ promises: some Collection<LocalPromise<Value>>
    ) -> LocalGuarantee<[Result<Value, any Error>]> {
        .init(Node.allSettled(promises.map(\.node), of: Value.self, placement: placement) { $0 })
    }

    /// Every outcome by its key.
    ///
    /// Handlers run on the core, in a turn after the last one has arrived. It cannot fail and
    /// cannot be cancelled; a member's cancellation is one of the outcomes.
    public func allSettled<Key: Hashable, Value>(
        _ promises: [Key: LocalPromise<Value>]
    ) -> LocalGuarantee<[Key: Result<Value, any Error>]> {
        allSettled(promises.map { (key: $0.key, promise: $0.value) }).map { outcomes in
            Dictionary(outcomes.map { ($0.key, $0.result) }) { first, _ in first }
        }
    }

    /// Every outcome with its key, in the order of the members.
    ///
    /// Handlers run on the core, in a turn after the last one has arrived. It cannot fail and
    /// cannot be cancelled; a member's cancellation is one of the outcomes.
    @inlinable
    public func allSettled<Key, Value>(
        _ members: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalGuarantee<[(key: Key, result: Result<Value, any Error>)]> {
        let keys = members.map(\.key)
        return .init(
            Node.allSettled(members.map(\.promise.node), of: Value.self, placement: placement) {
                results in
                zip(keys, results).map { (key: $0, result: $1) }
            })
    }
}
