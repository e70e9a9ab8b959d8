// Operators that observe an outcome and pass it on.

extension Node {
    @inlinable
    func onResult<Value>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Result<Value, any Error>) -> Void
    ) -> Node {
        watch(Value.self, on: context) { child in
            guard let result = child.receiveResult(Value.self) else {
                return body(.failure(child.error))
            }
            body(result)
            child.resolve(result)
        }
    }

    @inlinable
    func onFailure<Value>(
        of type: Value.Type, on context: (any ExecutionContext)? = nil, policy: CatchPolicy,
        _ body: @escaping (any Error) throws -> Void
    ) -> Node {
        watch(Value.self, on: context) { child in
            var error: (any Error)?
            if var parent = child.takeParent() {
                if parent.isFulfilled { return child.inherit(Value.self, from: &parent) }
                error = parent.error
            }
            let reason = error ?? child.error
            do {
                if policy.covers(reason) { try body(reason) }
                child.reject(reason)
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
        watch(Value.self, on: context) { child in
            guard var parent = child.takeParent() else { return body() }
            body()
            child.inherit(Value.self, from: &parent)
        }
    }

    @inlinable
    func whenSettled<Value>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping (Result<Value, any Error>) -> Void
    ) {
        let observer = makeChild(Void.self, on: context) { observer in
            guard let handler = observer.takeHandler(Observer<Result<Value, any Error>>.self),
                var parent = observer.takeParent()
            else { return }
            (consume handler)(parent.takeResult(as: Value.self))
        }
        observer.storeHandler(Observer(body))
        attach(observer: observer)
    }
}

extension Promise {
    /// Observes the outcome, which passes on.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. It cannot throw, and changes nothing. Cancelling the result
    /// withdraws from this promise, and `body` still runs, with the cancellation.
    @inlinable
    public func onResult(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Promise {
        .init(node.onResult(on: context, body))
    }

    /// Observes the error, by default not a cancellation; it passes on. A throw replaces it.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. A value skips it, and so does an error that the policy does
    /// not cover. Cancelling the result withdraws from this promise, and `body` still runs, with
    /// the cancellation, if the policy covers it. What it throws after the result was cancelled is
    /// ignored.
    @inlinable
    public func onFailure(
        on context: (any ExecutionContext)? = nil,
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @Sendable (any Error) throws -> Void
    ) -> Promise {
        .init(node.onFailure(of: Value.self, on: context, policy: policy, body))
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. It cannot throw, and does not receive the outcome.
    /// Cancelling the result withdraws from this promise, and `body` still runs.
    @inlinable
    public func ensure(
        on context: (any ExecutionContext)? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Promise {
        .init(node.ensure(Value.self, on: context, body))
    }

    /// Observes the outcome without making a promise and without keeping the work going.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. Observers and handlers run in the order in which they were
    /// attached. An error counts as handled. There is nothing to cancel: when all consumers have
    /// withdrawn, `body` receives the cancellation.
    @inlinable
    public func whenSettled(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        node.whenSettled(on: context, body)
    }
}

extension LocalPromise {
    /// Observes the outcome, which passes on.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. It cannot throw, and changes nothing. Cancelling the result withdraws from
    /// this promise, and `body` still runs, with the cancellation.
    @inlinable
    public func onResult(_ body: @escaping (Result<Value, any Error>) -> Void) -> LocalPromise {
        .init(node.onResult(body))
    }

    /// Observes the error, by default not a cancellation; it passes on. A throw replaces it.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. A value skips it, and so does an error that the policy does not cover.
    /// Cancelling the result withdraws from this promise, and `body` still runs, with the
    /// cancellation, if the policy covers it. What it throws after the result was cancelled is
    /// ignored.
    @inlinable
    public func onFailure(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping (any Error) throws -> Void
    ) -> LocalPromise {
        .init(node.onFailure(of: Value.self, policy: policy, body))
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. It cannot throw, and does not receive the outcome. Cancelling the result
    /// withdraws from this promise, and `body` still runs.
    @inlinable
    public func ensure(_ body: @escaping () -> Void) -> LocalPromise {
        .init(node.ensure(Value.self, body))
    }

    /// Observes the outcome without making a promise and without keeping the work going.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. Observers and handlers run in the order in which they were attached. An
    /// error counts as handled. There is nothing to cancel: when all consumers have withdrawn,
    /// `body` receives the cancellation.
    @inlinable
    public func whenSettled(_ body: @escaping (Result<Value, any Error>) -> Void) {
        node.whenSettled(body)
    }
}
