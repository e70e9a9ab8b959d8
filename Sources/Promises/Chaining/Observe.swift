// Operators that look at an outcome and let it pass.

extension Node {
    @inlinable
    func onResult<Value>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Result<Value, any Error>) -> Void
    ) -> Node {
        link(Value.self, on: context) { child in
            guard let result = child.receiveResult(Value.self) else { return }
            body(result)
            child.resolve(result)
        }
    }

    @inlinable
    func onFailure<Value>(
        of type: Value.Type, on context: (any ExecutionContext)? = nil, policy: CatchPolicy,
        _ body: @escaping (any Error) throws -> Void
    ) -> Node {
        link(Value.self, on: context) { child in
            guard let error = child.receiveError(passing: Value.self) else { return }
            do {
                if policy.covers(error) { try body(error) }
                child.reject(error)
            } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    func ensure<Value>(
        _ type: Value.Type, on context: (any ExecutionContext)? = nil,
        _ body: @escaping () -> Void
    ) -> Node {
        link(Value.self, on: context) { child in
            guard var above = child.takeParent() else { return }
            body()
            child.inherit(Value.self, from: &above)
        }
    }

    @inlinable
    func whenSettled<Value>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Result<Value, any Error>) -> Void
    ) {
        let observer = Node.make(
            Void.self, home: context.map { .context($0) } ?? home, parent: self
        ) { observer in
            guard let handler = observer.takeHandler(Observe<Result<Value, any Error>>.self),
                var above = observer.takeParent()
            else { return }
            handler.call(above.takeResult(as: Value.self))
        }
        observer.keep(Observe(body))
        attach(observer: observer)
    }
}

extension Promise {
    /// Looks at the outcome, which passes on.
    @inlinable
    public func onResult(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Promise {
        .init(node.onResult(on: context, body))
    }

    /// Looks at the error, cancellation included, which passes on; a throw replaces it.
    @inlinable
    public func onFailure(
        on context: (any ExecutionContext)? = nil, policy: CatchPolicy = .allErrors,
        _ body: @escaping @Sendable (any Error) throws -> Void
    ) -> Promise {
        .init(node.onFailure(of: Value.self, on: context, policy: policy, body))
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    @inlinable
    public func ensure(
        on context: (any ExecutionContext)? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Promise {
        .init(node.ensure(Value.self, on: context, body))
    }

    /// Looks at the outcome without making a promise and without keeping the work going.
    @inlinable
    public func whenSettled(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        node.whenSettled(on: context, body)
    }
}

extension Local {
    /// Looks at the outcome, which passes on.
    @inlinable
    public func onResult(_ body: @escaping (Result<Value, any Error>) -> Void) -> Local {
        .init(node.onResult(body))
    }

    /// Looks at the error, cancellation included, which passes on; a throw replaces it.
    @inlinable
    public func onFailure(
        policy: CatchPolicy = .allErrors, _ body: @escaping (any Error) throws -> Void
    ) -> Local {
        .init(node.onFailure(of: Value.self, policy: policy, body))
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    @inlinable
    public func ensure(_ body: @escaping () -> Void) -> Local {
        .init(node.ensure(Value.self, body))
    }

    /// Looks at the outcome without making a promise and without keeping the work going.
    @inlinable
    public func whenSettled(_ body: @escaping (Result<Value, any Error>) -> Void) {
        node.whenSettled(body)
    }
}
