// `all`: every value, or the first error.

extension Node {
    @inlinable
    static func all<Value, Output>(
        _ inputs: [Node], of type: Value.Type, placement: Placement,
        _ combine: @escaping ([Value]) -> Output
    ) -> Node {
        if inputs.isEmpty { return .settled(combine([]), placement: placement) }
        let result = Node.combinatorResult(Output.self, count: inputs.count, placement: placement)
        let inputSlots = inputs.map { input in
            result.inputSlot(Value.self, at: input) { inputSlot in
                guard let result = inputSlot.receiveOutcome(Value.self) else { return }
                if inputSlot.isRejected {
                    result.concludeEarly(Result<Output, any Error>.failure(inputSlot.error))
                } else if result.countSettledInput(Output.self) {
                    result.conclude { inputSlots in
                        .success(combine(inputSlots.map { $0.value(as: Value.self) }))
                    }
                }
            }
        }
        result.write(inputSlots)
        result.awaitInputs(inputSlots, at: inputs)
        return result
    }

    /// The placement of a combinator that has no context of its own: the placement of its first input.
    @inlinable
    static func placement(of inputs: [Node]) -> Placement {
        inputs.first?.placement ?? .forNewChain(on: nil)
    }
}

/// Every value in the order of the promises, or the first error; the result then withdraws from the
/// others. For no promises the result is empty.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func all<Value: Sendable>(_ promises: some Collection<Promise<Value>>) -> Promise<[Value]> {
    let inputs = promises.map(\.node)
    return .init(Node.all(inputs, of: Value.self, placement: Node.placement(of: inputs)) { $0 })
}

/// Every value by its key, or the first error; the result then withdraws from the others.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func all<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Promise<[Key: Value]> {
    all(promises.map { (key: $0.key, promise: $0.value) })
}

/// Every value by its key, or the first error; the result then withdraws from the others.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func all<Key: Hashable & Sendable, Value: Sendable>(
    _ inputs: [(key: Key, promise: Promise<Value>)]
) -> Promise<[Key: Value]> {
    let nodes = inputs.map(\.promise.node)
    let keys = inputs.map(\.key)
    return .init(
        Node.all(nodes, of: Value.self, placement: Node.placement(of: nodes)) { values in
            Dictionary(zip(keys, values)) { first, _ in first }
        })
}

extension LocalContext {
    /// Every value in the order of the promises, or the first error; the result then withdraws from
    /// the others. For no promises the result is empty.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    @inlinable
    public func all<Value>(_ promises: some Collection<LocalPromise<Value>>) -> LocalPromise<
        [Value]
    > {
        .init(Node.all(promises.map(\.node), of: Value.self, placement: placement) { $0 })
    }

    /// Every value by its key, or the first error; the result then withdraws from the others.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    public func all<Key: Hashable, Value>(_ promises: [Key: LocalPromise<Value>]) -> LocalPromise<
        [Key: Value]
    > {
        all(promises.map { (key: $0.key, promise: $0.value) })
    }

    /// Every value by its key, or the first error; the result then withdraws from the others.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    @inlinable
    public func all<Key: Hashable, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalPromise<[Key: Value]> {
        let keys = inputs.map(\.key)
        return .init(
            Node.all(inputs.map(\.promise.node), of: Value.self, placement: placement) { values in
                Dictionary(zip(keys, values)) { first, _ in first }
            })
    }
}
