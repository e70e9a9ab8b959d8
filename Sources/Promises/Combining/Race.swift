// `race`: the first value. `firstSettled`: the first outcome.

extension Node {
    @inlinable
    static func race<Value>(_ inputs: [Node], of type: Value.Type, placement: Placement) -> Node {
        if inputs.isEmpty { return .failed(ErrorArray([]), as: Value.self, placement: placement) }
        let result = Node.combinatorResult(Value.self, count: inputs.count, placement: placement)
        let inputSlots = inputs.map { input in
            result.inputSlot(Value.self, at: input) { inputSlot in
                guard let result = inputSlot.receiveOutcome(Value.self) else { return }
                if inputSlot.isFulfilled {
                    result.concludeEarly(.success(inputSlot.value(as: Value.self)))
                } else if result.countSettledInput(Value.self) {
                    result.conclude { inputSlots in
                        Result<Value, any Error>.failure(ErrorArray(inputSlots.map(\.error)))
                    }
                }
            }
        }
        result.write(inputSlots)
        result.awaitInputs(inputSlots, at: inputs)
        return result
    }

    @inlinable
    static func firstSettled<Value>(_ inputs: [Node], of type: Value.Type, placement: Placement)
        -> Node
    {
        if inputs.isEmpty {
            return .failed(PromiseError.badInput, as: Value.self, placement: placement)
        }
        let result = Node.combinatorResult(Value.self, count: inputs.count, placement: placement)
        let inputSlots = inputs.map { input in
            result.inputSlot(Value.self, at: input) { inputSlot in
                // Nil if another thread is withdrawing the slot at this moment.
                guard let result = inputSlot.receiveOutcome(Value.self),
                    let outcome = inputSlot.result(as: Value.self)
                else { return }
                result.concludeEarly(outcome)
            }
        }
        result.write(inputSlots)
        result.awaitInputs(inputSlots, at: inputs)
        return result
    }
}

/// The first value; the result then withdraws from the others. `ErrorArray` when all were rejected.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func race<Value: Sendable>(_ promises: some Collection<Promise<Value>>) -> Promise<Value> {
    let inputs = promises.map(\.node)
    return .init(Node.race(inputs, of: Value.self, placement: Node.placement(of: inputs)))
}

/// The first outcome, an error or not; the result then withdraws from the others.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func firstSettled<Value: Sendable>(
    _ promises: some Collection<Promise<Value>>
) -> Promise<Value> {
    let inputs = promises.map(\.node)
    return .init(Node.firstSettled(inputs, of: Value.self, placement: Node.placement(of: inputs)))
}

extension LocalContext {
    /// The first value; the result then withdraws from the others. `ErrorArray` when all were
    /// rejected.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    @inlinable
    public func race<Value>(_ promises: some Collection<LocalPromise<Value>>) -> LocalPromise<Value>
    {
        .init(Node.race(promises.map(\.node), of: Value.self, placement: placement))
    }

    /// The first outcome, an error or not; the result then withdraws from the others.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    @inlinable
    public func firstSettled<Value>(_ promises: some Collection<LocalPromise<Value>>)
        -> LocalPromise<Value>
    {
        .init(Node.firstSettled(promises.map(\.node), of: Value.self, placement: placement))
    }
}
