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
            guard let parent = child.takeParent() else { return }
            if parent.isRejected {
                let error = parent.error
                if policy.covers(error) { body(error) }
            }
            child.fulfill(())
        }
    }

    @inlinable
    func ensure<Value, Wait: NodeHandle>(
        _ type: Value.Type, on context: (any ExecutionContext)? = nil,
        waiting body: @escaping () -> Wait
    ) -> Node {
        watch(Value.self, on: context) { child in
            let waited = body().node
            guard let parent = child.takeParent() else { return }
            // A guarantee cannot be cancelled, not even by the child that stops waiting for it.
            _ = waited.control.insert(ControlBits.shielded)
            child.wait(for: waited) { child in
                _ = child.takeParent()
                var parent = parent
                child.inherit(Value.self, from: &parent)
            }
        }
    }

    /// A child whose cancellation does not reach this node. The child withdraws like any other, so
    /// that its node is freed, but from then on no withdrawal cancels this node.
    @inlinable
    func shielded<Value>(_ type: Value.Type) -> Node {
        _ = control.insert(ControlBits.shielded)
        return link(Value.self) { $0.inherit(Value.self) }
    }
}

extension Promise {
    /// The outcome as a value, cancellation included: available one turn later, on this promise's
    /// context. The error counts as handled. The result cannot fail and cannot be cancelled.
    @inlinable
    public var settled: Guarantee<Result<Value, any Error>> {
        .init(node.settledResult(Value.self))
    }

    /// Ends the chain. Fulfilled at the end of the chain, whether or not the handler ran: by
    /// default it does not run for a cancellation, after which no consumer is left.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. The error counts as handled. The result cannot fail and
    /// cannot be cancelled.
    @inlinable @discardableResult
    public func `catch`(
        on context: (any ExecutionContext)? = nil,
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @Sendable (any Error) -> Void
    ) -> Guarantee<Void> {
        .init(node.catch(on: context, policy: policy, body))
    }

    /// Ends the chain and silences its error on purpose; diagnostics report it.
    ///
    /// The report names the source location of this call. A cancellation is not reported. The
    /// result cannot fail and cannot be cancelled.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> Guarantee<Void> {
        self.catch { error in
            let site = CreationSite(file: file, line: line)
            PromiseDiagnostics.report(.cauterized(error, at: site))
        }
    }

    /// Continues after any error, cancellation included, with a guarantee.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. A value skips it. The result cannot fail and cannot be
    /// cancelled.
    @inlinable @_disfavoredOverload  // Unlabelled trailing closures select the other overload.
    public func recover(
        on context: (any ExecutionContext)? = nil,
        guaranteed body: @escaping @Sendable (any Error) -> Guarantee<Value>
    ) -> Guarantee<Value> {
        .init(node.recover(on: context, policy: .allErrors, HandleTransform(body)))
    }

    /// Runs in every case and waits for what it returns; then the outcome passes on.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. Neither it nor what it returns can fail. Cancelling the
    /// result withdraws from this promise, and `body` still runs; what it returns is not
    /// waited for.
    @inlinable
    public func ensure(
        on context: (any ExecutionContext)? = nil,
        waiting body: @escaping @Sendable () -> Guarantee<Void>
    ) -> Promise {
        .init(node.ensure(Value.self, on: context, waiting: body))
    }

    /// The same outcome; cancelling it does not reach the work.
    ///
    /// Value and error pass on one turn later. Cancelling the result rejects only the result, and
    /// this promise does not count it as a withdrawn consumer.
    @inlinable
    public func shielded() -> Promise { .init(node.shielded(Value.self)) }
}

extension LocalPromise {
    /// The outcome as a value, cancellation included: available one turn later. The error counts as
    /// handled. The result cannot fail. Cancelling it withdraws from this promise.
    @inlinable
    public var settled: LocalPromise<Result<Value, any Error>> {
        .init(node.settledResult(Value.self))
    }

    /// Ends the chain. Fulfilled at the end of the chain, whether or not the handler ran: by
    /// default it does not run for a cancellation, after which no consumer is left.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. The error counts as handled. The result cannot fail. Cancelling it
    /// withdraws from this promise; the handler then never runs.
    @inlinable @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation, _ body: @escaping (any Error) -> Void
    ) -> LocalPromise<Void> {
        .init(node.catch(policy: policy, body))
    }

    /// Ends the chain and silences its error on purpose; diagnostics report it.
    ///
    /// The report names the source location of this call. A cancellation is not reported. The
    /// result cannot fail. Cancelling it withdraws from this promise.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> LocalPromise<Void> {
        self.catch { error in
            let site = CreationSite(file: file, line: line)
            PromiseDiagnostics.report(.cauterized(error, at: site))
        }
    }

    /// Runs in every case and waits for what it returns; then the outcome passes on.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. It cannot throw, and an error of what it returns is ignored. Cancelling
    /// the result withdraws from this promise, and `body` still runs; what it returns is not waited
    /// for.
    @inlinable
    public func ensure(waiting body: @escaping () -> LocalPromise<Void>) -> LocalPromise {
        .init(node.ensure(Value.self, waiting: body))
    }

    /// The same outcome; cancelling it does not reach the work.
    ///
    /// Value and error pass on one turn later. Cancelling the result rejects only the result, and
    /// this promise does not count it as a withdrawn consumer.
    @inlinable
    public func shielded() -> LocalPromise { .init(node.shielded(Value.self)) }
}
