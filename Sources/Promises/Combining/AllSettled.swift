// `allSettled`: every outcome, and never an error.

extension Node {
    @inlinable
    static func allSettled<Value, Output>(
        _ inputs: [Node], of type: Value.Type, placement: Placement,
        _ combine: @escaping ([Result<Value, any Error>]) -> Output
    ) -> Node {
        if inputs.isEmpty { return .settled(combine([]), placement: placement) }
        let result = Node.combinatorResult(Output.self, count: inputs.count, placement: placement)
        let inputSlots = inputs.map { input in
            result.inputSlot(Value.self, at: input) { inputSlot in
                guard let result = inputSlot.receiveOutcome(Value.self),
                    result.countSettledInput(Output.self)
                else { return }
                result.conclude { inputSlots in
                    .success(combine(inputSlots.compactMap { $0.result(as: Value.self) }))
                }
            }
        }
        result.write(inputSlots)
        result.awaitInputs(inputSlots, at: inputs)
        return result
    }
}

/// Every outcome in the order of the promises.
///
/// Handlers run on the context of the first input, in a turn after the last input has settled. The
/// result cannot fail and cannot be cancelled; the cancellation of an input is one of the outcomes.
public func allSettled<Value: Sendable>(
    _ promises: some Collection<Promise<Value>>
) -> Guarantee<[Result<Value, any Error>]> {
    let inputs = promises.map(\.node)
    return .init(
        Node.allSettled(inputs, of: Value.self, placement: Node.placement(of: inputs)) { $0 })
}

/// Every outcome by its key.
///
/// Handlers run on the context of the first input, in a turn after the last input has settled. The
/// result cannot fail and cannot be cancelled; the cancellation of an input is one of the outcomes.
public func allSettled<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Guarantee<[Key: Result<Value, any Error>]> {
    allSettled(promises.map { (key: $0.key, promise: $0.value) }).map { outcomes in
        Dictionary(outcomes.map { ($0.key, $0.result) }) { first, _ in first }
    }
}

/// Every outcome with its key, in the order of the inputs.
///
/// Handlers run on the context of the first input, in a turn after the last input has settled. The
/// result cannot fail and cannot be cancelled; the cancellation of an input is one of the outcomes.
public func allSettled<Key: Hashable & Sendable, Value: Sendable>(
    _ inputs: [(key: Key, promise: Promise<Value>)]
) -> Guarantee<[(key: Key, result: Result<Value, any Error>)]> {
    let nodes = inputs.map(\.promise.node)
    let keys = inputs.map(\.key)
    return .init(
        Node.allSettled(nodes, of: Value.self, placement: Node.placement(of: nodes)) { results in
            zip(keys, results).map { (key: $0, result: $1) }
        })
}

extension LocalContext {
    /// Every outcome in the order of the promises.
    ///
    /// Handlers run on the local context, in a turn after the last input has settled. The result
    /// cannot fail; the cancellation of an input is one of the outcomes. Cancelling the result
    /// withdraws from every input that is still pending.
    @inlinable
    public func allSettled<Value>(
        _ promises: some Collection<LocalPromise<Value>>
    ) -> LocalPromise<[Result<Value, any Error>]> {
        .init(Node.allSettled(promises.map(\.node), of: Value.self, placement: placement) { $0 })
    }

    /// Every outcome by its key.
    ///
    /// Handlers run on the local context, in a turn after the last input has settled. The result
    /// cannot fail; the cancellation of an input is one of the outcomes. Cancelling the result
    /// withdraws from every input that is still pending.
    public func allSettled<Key: Hashable, Value>(
        _ promises: [Key: LocalPromise<Value>]
    ) -> LocalPromise<[Key: Result<Value, any Error>]> {
        allSettled(promises.map { (key: $0.key, promise: $0.value) }).map { outcomes in
            Dictionary(outcomes.map { ($0.key, $0.result) }) { first, _ in first }
        }
    }

    /// Every outcome with its key, in the order of the inputs.
    ///
    /// Handlers run on the local context, in a turn after the last input has settled. The result
    /// cannot fail; the cancellation of an input is one of the outcomes. Cancelling the result
    /// withdraws from every input that is still pending.
    @inlinable
    public func allSettled<Key, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalPromise<[(key: Key, result: Result<Value, any Error>)]> {
        let keys = inputs.map(\.key)
        return .init(
            Node.allSettled(inputs.map(\.promise.node), of: Value.self, placement: placement) {
                results in
                zip(keys, results).map { (key: $0, result: $1) }
            })
    }
}
