// The operator with one handler for the value and one for the error.

extension Node {
    @inlinable
    func then<In, Next: NodeHandle>(
        on context: (any ExecutionContext)? = nil,
        fulfilled: @escaping (In) throws -> Next, rejected: @escaping (any Error) throws -> Next
    ) -> Node {
        link(Next.Value.self, on: context) { child in
            guard let result = child.receiveResult(In.self) else { return }
            do {
                let next =
                    switch result {
                    case .success(let value): try fulfilled(value)
                    case .failure(let error): try rejected(error)
                    }
                child.adopt(next.node, as: Next.Value.self)
            } catch {
                child.reject(error)
            }
        }
    }
}

extension Promise {
    /// Continues after a value or an error, with a promise; `.value(_:)` for a value. What one
    /// handler throws does not reach the other.
    ///
    /// Exactly one of them runs, on `context`, or else on this promise's, in a turn of its own. A
    /// throw rejects. Cancelling the result withdraws from this promise, or from the one that the
    /// handler has returned.
    @inlinable
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        fulfilled: @escaping @Sendable (Value) throws -> Promise<New>,
        rejected: @escaping @Sendable (any Error) throws -> Promise<New>
    ) -> Promise<New> {
        .init(node.then(on: context, fulfilled: fulfilled, rejected: rejected))
    }
}

extension LocalPromise {
    /// Continues after a value or an error, with a promise; `local.value(_:)` for a value. What one
    /// handler throws does not reach the other.
    ///
    /// Exactly one of them runs, on the local context in a turn of its own. A throw rejects.
    /// Cancelling the result withdraws from this promise, or from the one that the handler has
    /// returned.
    @inlinable
    public func then<New>(
        fulfilled: @escaping (Value) throws -> LocalPromise<New>,
        rejected: @escaping (any Error) throws -> LocalPromise<New>
    ) -> LocalPromise<New> {
        .init(node.then(fulfilled: fulfilled, rejected: rejected))
    }
}
