// Operators that recover from an error or replace it.

extension Node {
    @inlinable
    func recover<Next: FlatTransform>(
        on context: (any ExecutionContext)? = nil, policy: CatchPolicy, _ transform: Next
    ) -> Node where Next.Input == any Error {
        // One step for each policy, so that the step captures nothing.
        let step: (Node) -> Void =
            switch policy {
            case .allErrors: { $0.repair(.allErrors, Next.self) }
            case .allErrorsExceptCancellation:
                { $0.repair(.allErrorsExceptCancellation, Next.self) }
            }
        return link(Next.Output.self, on: context, handler: transform, step)
    }

    /// In a step: the handler continues after an error.
    @inlinable
    func repair<Next: FlatTransform>(_ policy: CatchPolicy, _ type: Next.Type)
    where Next.Input == any Error {
        guard let handler = takeHandler(Next.self),
            let error = receiveError(passing: Next.Output.self)
        else { return }
        guard policy.covers(error) else {
            _ = reject(error)
            return
        }
        do { adopt(try handler.nextNode(error), as: Next.Output.self) } catch { reject(error) }
    }

    @inlinable
    func recover<Failure: Error, Next: NodeHandle>(
        only type: Failure.Type, on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Failure) throws -> Next
    ) -> Node {
        let transform = HandleTransform { (error: any Error) in
            guard let failure = error as? Failure else { throw error }
            return try body(failure)
        }
        return recover(on: context, policy: .allErrors, transform)
    }

    @inlinable
    func replaceError<Value>(with value: @escaping () -> Value) -> Node {
        link(Value.self) { child in
            guard let error = child.receiveError(passing: Value.self) else { return }
            guard !error.isCancellation else {
                _ = child.reject(error)
                return
            }
            child.fulfill(value())
        }
    }

    @inlinable
    func mapError<Value>(
        of type: Value.Type, on context: (any ExecutionContext)? = nil,
        _ body: @escaping (any Error) -> any Error
    ) -> Node {
        link(Value.self, on: context) { child in
            guard let error = child.receiveError(passing: Value.self) else { return }
            child.reject(body(error))
        }
    }
}

extension Promise {
    /// Continues with another promise after an error, by default not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. A value skips it. Cancelling the result withdraws from
    /// this promise, or from the one that `body` has returned.
    @inlinable
    public func recover(
        on context: (any ExecutionContext)? = nil,
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @Sendable (any Error) throws -> Promise
    ) -> Promise {
        .init(node.recover(on: context, policy: policy, PromiseTransform(body)))
    }

    /// Continues with another promise after an error of one type; others pass on.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. A value skips it, and so do errors of other types,
    /// cancellation among them. What it throws replaces the error. Cancelling the result withdraws
    /// from this promise, or from the one that `body` has returned.
    @inlinable
    public func recover<Failure: Error>(
        only type: Failure.Type, on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Failure) throws -> Promise
    ) -> Promise {
        .init(node.recover(only: Failure.self, on: context, body))
    }

    /// Replaces an error, but not a cancellation, by a value. The value is made only if it is
    /// needed.
    ///
    /// `value` is evaluated on this promise's context in a turn of its own. A value skips it.
    /// Cancelling the result withdraws from this promise; the handler then never runs.
    @inlinable
    public func replaceError(with value: @autoclosure @escaping @Sendable () -> Value) -> Promise {
        .init(node.replaceError(with: value))
    }

    /// Rejects with another error.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. It also runs for a cancellation; a value skips it.
    /// Cancelling the result withdraws from this promise; the handler then never runs.
    @inlinable
    public func mapError(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (any Error) -> any Error
    ) -> Promise {
        .init(node.mapError(of: Value.self, on: context, body))
    }
}

extension LocalPromise {
    /// Continues with another promise after an error, by default not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. A value skips it. Cancelling the result withdraws from this promise, or
    /// from the one that `body` has returned.
    @inlinable
    public func recover(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping (any Error) throws -> LocalPromise
    ) -> LocalPromise {
        .init(node.recover(policy: policy, LocalPromiseTransform(body)))
    }

    /// Continues with another promise after an error of one type; others pass on.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. A value skips it, and so do errors of other types, cancellation among
    /// them. What it throws replaces the error. Cancelling the result withdraws from this promise,
    /// or from the one that `body` has returned.
    @inlinable
    public func recover<Failure: Error>(
        only type: Failure.Type, _ body: @escaping (Failure) throws -> LocalPromise
    ) -> LocalPromise {
        .init(node.recover(only: Failure.self, body))
    }

    /// Replaces an error, but not a cancellation, by a value. The value is made only if it is
    /// needed.
    ///
    /// `value` is evaluated on the local context, in a turn of its own. A value skips it.
    /// Cancelling the result withdraws from this promise; the handler then never runs.
    @inlinable
    public func replaceError(with value: @autoclosure @escaping () -> Value) -> LocalPromise {
        .init(node.replaceError(with: value))
    }

    /// Rejects with another error.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. It also runs for a cancellation; a value skips it. Cancelling the result
    /// withdraws from this promise; the handler then never runs.
    @inlinable
    public func mapError(_ body: @escaping (any Error) -> any Error) -> LocalPromise {
        .init(node.mapError(of: Value.self, body))
    }
}
