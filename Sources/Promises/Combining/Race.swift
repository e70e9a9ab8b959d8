// `race`: the first value. `firstSettled`: the first outcome.

extension Node {
    @inlinable
    static func race<Value>(_ members: [Node], of type: Value.Type, placement: Placement) -> Node {
        if members.isEmpty { return .failed(ErrorArray([]), as: Value.self, placement: placement) }
        let result = Node.gathering(Value.self, count: members.count, placement: placement)
        let inputSlots = members.map { member in
            result.inputSlot(Value.self, at: member) { inputSlot in
                guard let result = inputSlot.arrive(Value.self) else { return }
                if inputSlot.isFulfilled {
                    result.concludeEarly(.success(inputSlot.value(as: Value.self)))
                } else if result.isComplete(Value.self) {
                    result.conclude { inputSlots in
                        Result<Value, any Error>.failure(ErrorArray(inputSlots.map(\.error)))
                    }
                }
            }
        }
        result.write(inputSlots)
        result.gather(inputSlots, at: members)
        return result
    }

    @inlinable
    static func firstSettled<Value>(_ members: [Node], of type: Value.Type, placement: Placement)
        -> Node
    {
        if members.isEmpty {
            return .failed(PromiseError.badInput, as: Value.self, placement: placement)
        }
        let result = Node.gathering(Value.self, count: members.count, placement: placement)
        let inputSlots = members.map { member in
            result.inputSlot(Value.self, at: member) { inputSlot in
                // Nil when another thread is releasing it at this moment.
                guard let result = inputSlot.arrive(Value.self),
                    let outcome = inputSlot.result(as: Value.self)
                else { return }
                result.concludeEarly(outcome)
            }
        }
        result.write(inputSlots)
        result.gather(inputSlots, at: members)
        return result
    }
}

/// The first value; the others are then withdrawn from. `ErrorArray` when all were rejected.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func race<Value: Sendable>(_ promises: some Collection<Promise<Value>>) -> Promise<Value> {
    let members = promises.map(\.node)
    return .init(Node.race(members, of: Value.self, placement: Node.placement(of: members)))
}

/// The first outcome, an error or not; the others are then withdrawn from.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func firstSettled<Value: Sendable>(
    _ promises: some Collection<Promise<Value>>
) -> Promise<Value> {
    let members = promises.map(\.node)
    return .init(Node.firstSettled(members, of: Value.self, placement: Node.placement(of: members)))
}

extension LocalContext {
    /// The first value; the others are then withdrawn from. `ErrorArray` when all were rejected.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func race<Value>(_ promises: some Collection<LocalPromise<Value>>) -> LocalPromise<Value>
    {
        .init(Node.race(promises.map(\.node), of: Value.self, placement: placement))
    }

    /// The first outcome, an error or not; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func firstSettled<Value>(_ promises: some Collection<LocalPromise<Value>>)
        -> LocalPromise<Value>
    {
        .init(Node.firstSettled(promises.map(\.node), of: Value.self, placement: placement))
    }
}
