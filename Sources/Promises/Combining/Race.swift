// `race`: the first value. `firstSettled`: the first outcome.

extension Node {
    @inlinable
    static func race<Value>(_ members: [Node], of type: Value.Type, home: Home) -> Node {
        if members.isEmpty { return .failed(ErrorArray([]), as: Value.self, home: home) }
        let result = Node.gathering(Value.self, count: members.count, home: home)
        let seats = members.map { member in
            result.seat(Value.self, at: member) { seat in
                guard let result = seat.arrive(Value.self) else { return }
                if seat.isFulfilled {
                    result.concludeEarly(.success(seat.value(as: Value.self)))
                } else if result.isComplete(Value.self) {
                    result.conclude { seats in
                        Result<Value, any Error>.failure(ErrorArray(seats.map(\.error)))
                    }
                }
            }
        }
        result.write(seats)
        result.gather(seats, at: members)
        return result
    }

    @inlinable
    static func firstSettled<Value>(_ members: [Node], of type: Value.Type, home: Home) -> Node {
        if members.isEmpty { return .failed(PromiseError.badInput, as: Value.self, home: home) }
        let result = Node.gathering(Value.self, count: members.count, home: home)
        let seats = members.map { member in
            result.seat(Value.self, at: member) { seat in
                // None when it is being let go of on another thread just now.
                guard let result = seat.arrive(Value.self),
                    let outcome = seat.result(as: Value.self)
                else { return }
                result.concludeEarly(outcome)
            }
        }
        result.write(seats)
        result.gather(seats, at: members)
        return result
    }
}

/// The first value; the others are then withdrawn from. `ErrorArray` when all were rejected.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func race<Value: Sendable>(_ promises: some Collection<Promise<Value>>) -> Promise<Value> {
    let members = promises.map(\.node)
    return .init(Node.race(members, of: Value.self, home: Node.home(of: members)))
}

/// The first outcome, an error or not; the others are then withdrawn from.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func firstSettled<Value: Sendable>(
    _ promises: some Collection<Promise<Value>>
) -> Promise<Value> {
    let members = promises.map(\.node)
    return .init(Node.firstSettled(members, of: Value.self, home: Node.home(of: members)))
}

extension Core {
    /// The first value; the others are then withdrawn from. `ErrorArray` when all were rejected.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func race<Value>(_ promises: some Collection<Local<Value>>) -> Local<Value> {
        .init(Node.race(promises.map(\.node), of: Value.self, home: home))
    }

    /// The first outcome, an error or not; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    @inlinable
    public func firstSettled<Value>(_ promises: some Collection<Local<Value>>) -> Local<Value> {
        .init(Node.firstSettled(promises.map(\.node), of: Value.self, home: home))
    }
}
