/// What a handler may continue with: a value or a promise.
public enum Step<Value: Sendable>: Sendable {
    /// The value itself.
    case value(Value)
    /// The outcome of a promise.
    case promise(Promise<Value>)
}

/// What a handler of a local promise may continue with: a value or a promise.
public enum LocalStep<Value> {
    /// The value itself.
    case value(Value)
    /// The outcome of a promise.
    case promise(LocalPromise<Value>)
}

@usableFromInline
protocol StepProtocol<Value> {
    associatedtype Value
    func settle(_ child: Node)
}

extension Step: StepProtocol {
    @inlinable
    func settle(_ child: Node) {
        switch self {
        case .value(let value): child.fulfill(value)
        case .promise(let promise): child.adopt(promise.node, as: Value.self)
        }
    }
}

extension LocalStep: StepProtocol {
    @inlinable
    func settle(_ child: Node) {
        switch self {
        case .value(let value): child.fulfill(value)
        case .promise(let promise): child.adopt(promise.node, as: Value.self)
        }
    }
}

extension Node {
    @inlinable
    func then<In, Next: StepProtocol>(
        on context: (any ExecutionContext)? = nil,
        fulfilled: @escaping (In) throws -> Next, rejected: @escaping (any Error) throws -> Next
    ) -> Node {
        link(Next.Value.self, on: context) { child in
            guard let result = child.receiveResult(In.self) else { return }
            do {
                switch result {
                case .success(let value): try fulfilled(value).settle(child)
                case .failure(let error): try rejected(error).settle(child)
                }
            } catch {
                child.reject(error)
            }
        }
    }
}

extension Promise {
    /// Continues after a value or an error, with a value or a promise. What one handler throws does
    /// not reach the other.
    ///
    /// Exactly one of them runs, on `context`, or else on this promise's, in a turn of its own. A
    /// throw rejects. Cancelling the result withdraws from this promise, or from the one that the
    /// handler has continued with.
    @inlinable
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        fulfilled: @escaping @Sendable (Value) throws -> Step<New>,
        rejected: @escaping @Sendable (any Error) throws -> Step<New>
    ) -> Promise<New> {
        .init(node.then(on: context, fulfilled: fulfilled, rejected: rejected))
    }
}

extension LocalPromise {
    /// Continues after a value or an error, with a value or a promise. What one handler throws does
    /// not reach the other.
    ///
    /// Exactly one of them runs, on the local context in a turn of its own. A throw rejects.
    /// Cancelling the result withdraws from this promise, or from the one that the handler has
    /// continued with.
    @inlinable
    public func then<New>(
        fulfilled: @escaping (Value) throws -> LocalStep<New>,
        rejected: @escaping (any Error) throws -> LocalStep<New>
    ) -> LocalPromise<New> {
        .init(node.then(fulfilled: fulfilled, rejected: rejected))
    }
}
