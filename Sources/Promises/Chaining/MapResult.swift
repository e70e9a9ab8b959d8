// The operator that turns an outcome, a value or an error, into a value.

extension Node {
    @inlinable
    func mapResult<In, Out>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Result<In, any Error>) throws -> Out
    ) -> Node {
        link(Out.self, on: context, handler: Transform(body)) { child in
            guard let handler = child.takeHandler(Transform<Result<In, any Error>, Out>.self),
                var parent = child.takeParent()
            else { return }
            do {
                child.fulfill(try (consume handler)(parent.takeResult(as: In.self)))
            } catch {
                child.reject(error)
            }
        }
    }

    /// The outcome of a settled node; moved out of it if there is no other reference.
    @inlinable
    mutating func takeResult<Value>(as type: Value.Type) -> Result<Value, any Error> {
        if isRejected { return .failure(error) }
        return .success(isUnique() ? moveValue(as: Value.self) : value(as: Value.self))
    }
}

extension Promise {
    /// Turns the outcome, a value or an error, cancellation included, into a value; a throw
    /// rejects.
    ///
    /// One link where `map` and `recover` are two.
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func mapResult<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) throws -> New
    ) -> Promise<New> {
        .init(node.mapResult(on: context, body))
    }
}

extension LocalPromise {
    /// Turns the outcome, a value or an error, cancellation included, into a value; a throw
    /// rejects.
    ///
    /// One link where `map` and `recover` are two. `body` runs on the local context, in a turn of
    /// its own once there is an outcome: never inside this call. Cancelling the result withdraws
    /// from this promise; the handler then never runs.
    @inlinable
    public func mapResult<New>(
        _ body: @escaping (Result<Value, any Error>) throws -> New
    ) -> LocalPromise<New> {
        .init(node.mapResult(body))
    }
}
