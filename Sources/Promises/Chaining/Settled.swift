// Operators that turn an outcome into a value that cannot fail.

extension Node {
    @inlinable
    func settledResult<Value>(_ type: Value.Type) -> Node {
        link(Result<Value, any Error>.self) { child in
            guard let result = child.receiveResult(Value.self) else { return }
            child.fulfill(result)
        }
    }

    @inlinable
    func `catch`(
        on context: (any ExecutionContext)? = nil, policy: CatchPolicy,
        _ body: @escaping (any Error) -> Void
    ) -> Node {
        link(Void.self, on: context) { child in
            guard let above = child.takeParent() else { return }
            if above.isRejected {
                let error = above.error
                if policy.covers(error) { body(error) }
            }
            child.fulfill(())
        }
    }

    @inlinable
    func ensure<Value, Wait: PromiseFace>(
        _ type: Value.Type, on context: (any ExecutionContext)? = nil,
        waiting body: @escaping () -> Wait
    ) -> Node {
        link(Value.self, on: context) { child in
            guard let above = child.takeParent() else { return }
            child.wait(for: body().node) { child in
                var above = above
                child.inherit(Value.self, from: &above)
            }
        }
    }

    /// A child whose cancellation goes no further: it holds its parent by its closure only.
    @inlinable
    func shielded<Value>(_ type: Value.Type) -> Node {
        let child = Node.make(Value.self, home: home) { [self] child in
            var above = self
            child.inherit(Value.self, from: &above)
        }
        attach(child)
        return child
    }
}

extension Promise {
    /// The outcome as a value.
    @inlinable
    public var settled: Guarantee<Result<Value, any Error>> {
        .init(node.settledResult(Value.self))
    }

    /// Ends the chain. There when all is over, whether or not the handler was asked: by default it
    /// is not for a cancellation, which means that nobody wants an answer.
    @inlinable @discardableResult
    public func `catch`(
        on context: (any ExecutionContext)? = nil,
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @Sendable (any Error) -> Void
    ) -> Guarantee<Void> {
        .init(node.catch(on: context, policy: policy, body))
    }

    /// Ends the chain and silences its error on purpose; diagnostics hear of it.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> Guarantee<Void> {
        self.catch { error in
            let site = CreationSite(file: file, line: line)
            PromiseDiagnostics.report(.cauterized(error, at: site))
        }
    }

    /// Continues after any error, cancellation included, with what cannot fail.
    @inlinable @_disfavoredOverload  // A trailing closure without the label means the other one.
    public func recover(
        on context: (any ExecutionContext)? = nil,
        guaranteed body: @escaping @Sendable (any Error) -> Guarantee<Value>
    ) -> Guarantee<Value> {
        .init(node.recover(on: context, policy: .allErrors, FaceLead(body)))
    }

    /// Runs in every case and waits for what it returns; then the outcome passes on.
    @inlinable
    public func ensure(
        on context: (any ExecutionContext)? = nil,
        waiting body: @escaping @Sendable () -> Guarantee<Void>
    ) -> Promise {
        .init(node.ensure(Value.self, on: context, waiting: body))
    }

    /// The same outcome; cancelling it does not reach the work.
    @inlinable
    public func shielded() -> Promise { .init(node.shielded(Value.self)) }
}

extension Local {
    /// The outcome as a value.
    @inlinable
    public var settled: LocalGuarantee<Result<Value, any Error>> {
        .init(node.settledResult(Value.self))
    }

    /// Ends the chain. There when all is over, whether or not the handler was asked: by default it
    /// is not for a cancellation, which means that nobody wants an answer.
    @inlinable @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation, _ body: @escaping (any Error) -> Void
    ) -> LocalGuarantee<Void> {
        .init(node.catch(policy: policy, body))
    }

    /// Ends the chain and silences its error on purpose; diagnostics hear of it.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> LocalGuarantee<Void> {
        self.catch { error in
            let site = CreationSite(file: file, line: line)
            PromiseDiagnostics.report(.cauterized(error, at: site))
        }
    }

    /// Continues after any error, cancellation included, with what cannot fail.
    @inlinable @_disfavoredOverload  // A trailing closure without the label means the other one.
    public func recover(
        guaranteed body: @escaping (any Error) -> LocalGuarantee<Value>
    ) -> LocalGuarantee<Value> {
        .init(node.recover(policy: .allErrors, FaceLead(body)))
    }

    /// Runs in every case and waits for what it returns; then the outcome passes on.
    @inlinable
    public func ensure(waiting body: @escaping () -> LocalGuarantee<Void>) -> Local {
        .init(node.ensure(Value.self, waiting: body))
    }

    /// The same outcome; cancelling it does not reach the work.
    @inlinable
    public func shielded() -> Local { .init(node.shielded(Value.self)) }
}
