/// A local promise whose handlers receive an owner, which the promise does not keep alive.
///
/// Made by `LocalPromise.with(weak:)`; otherwise like `BoundPromise`. Handlers run on the local
/// context.
public struct LocalBound<Object: AnyObject, Value> {
    /// The same outcome without the owner.
    public let promise: LocalPromise<Value>
    @usableFromInline let owner: WeakOwner<Object>

    @inlinable
    init(_ promise: LocalPromise<Value>, _ owner: WeakOwner<Object>) {
        self.promise = promise
        self.owner = owner
    }
}

@available(*, unavailable)
extension LocalBound: Sendable {}

extension LocalPromise {
    /// Binds the handlers that follow to an owner, which the chain does not keep alive.
    ///
    /// They run on the promise's context. Nothing is attached yet, so there is nothing to cancel.
    @inlinable
    public func with<Object: AnyObject>(weak object: Object) -> LocalBound<Object, Value> {
        LocalBound(self, WeakOwner(object))
    }
}

extension LocalBound {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func then<New>(
        _ body: @escaping (Object, Value) throws -> LocalPromise<New>
    ) -> LocalBound<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func map<New>(
        _ body: @escaping (Object, Value) throws -> New
    ) -> LocalBound<Object, New> {
        .init(promise.map { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func onValue(_ body: @escaping (Object, Value) throws -> Void) -> LocalBound {
        .init(promise.onValue { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on the local context, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func compactMap<New>(
        _ body: @escaping (Object, Value) throws -> New?
    ) -> LocalBound<Object, New> {
        .init(promise.compactMap { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `check` runs on the local context, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func validate(
        _ check: @escaping (Object, Value) throws -> Bool
    ) -> LocalBound {
        .init(promise.validate { [owner] in try check(owner.get(), $0) }, owner)
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on the local context, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func done(
        _ body: @escaping (Object, Value) throws -> Void
    ) -> LocalBound<Object, Void> {
        .init(promise.done { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Observes the error, by default not a cancellation; it passes on. A throw replaces it.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. A
    /// value skips it. Cancelling the result withdraws from this promise, and `body` still runs,
    /// with the cancellation, if the policy covers it. What it throws after the result was
    /// cancelled is ignored.
    @inlinable
    public func onFailure(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping (Object, any Error) throws -> Void
    ) -> LocalBound {
        .init(
            .init(promise.node.onFailure(of: Value.self, policy: policy, with: owner, body)), owner)
    }

    /// Continues with another promise after an error, by default not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. A
    /// value skips it. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func recover(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping (Object, any Error) throws -> LocalPromise<Value>
    ) -> LocalBound {
        .init(promise.recover(policy: policy) { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. It
    /// cannot throw, and does not receive the outcome. Cancelling the result withdraws from this
    /// promise, and `body` still runs.
    @inlinable
    public func ensure(_ body: @escaping (Object) -> Void) -> LocalBound {
        .init(.init(promise.node.ensure(Value.self, with: owner, body)), owner)
    }

    /// Ends the chain. The result is fulfilled at the end of the chain, whether or not the handler
    /// ran.
    ///
    /// `body` runs on the local context, in a turn of its own, if the owner still exists and the
    /// policy covers the error; by default it does not cover a cancellation. The error counts as
    /// handled. The result cannot fail. Cancelling it withdraws from this promise.
    @inlinable @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping (Object, any Error) -> Void
    ) -> LocalPromise<Void> {
        promise.catch(policy: policy) { [owner] error in
            if let object = try? owner.get() { body(object, error) }
        }
    }
}
