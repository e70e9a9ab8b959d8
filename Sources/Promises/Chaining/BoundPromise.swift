/// A promise whose handlers receive an owner, which the promise does not keep alive.
///
/// Made by `Promise.with(weak:)`. When a handler's turn comes and the owner is gone, the handler
/// does not run, not even one of `onFailure` or `ensure`, and the link rejects with
/// `PromiseError.contextDeallocated`.
public struct BoundPromise<Object: AnyObject & Sendable, Value: Sendable>: Sendable {
    /// The same outcome without the owner.
    public let promise: Promise<Value>
    @usableFromInline let owner: WeakOwner<Object>

    @inlinable
    init(_ promise: Promise<Value>, _ owner: WeakOwner<Object>) {
        self.promise = promise
        self.owner = owner
    }
}

extension Promise {
    /// Binds the handlers that follow to an owner, which the chain does not keep alive.
    ///
    /// They run on the promise's context. Nothing is attached yet, so there is nothing to cancel.
    @inlinable
    public func with<Object: AnyObject & Sendable>(
        weak object: Object
    ) -> BoundPromise<Object, Value> {
        BoundPromise(self, WeakOwner(object))
    }
}

extension BoundPromise {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func then<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> Promise<New>
    ) -> BoundPromise<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Continues with a guarantee; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise, and never reaches the
    /// guarantee.
    @inlinable @_disfavoredOverload  // Closures that fit both select the other overload.
    public func then<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> Guarantee<New>
    ) -> BoundPromise<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func map<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> New
    ) -> BoundPromise<Object, New> {
        .init(promise.map { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func onValue(
        _ body: @escaping @Sendable (Object, Value) throws -> Void
    ) -> BoundPromise {
        .init(promise.onValue { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it, and what it throws rejects. Cancelling the result withdraws from this
    /// promise; the handler then never runs.
    @inlinable
    public func compactMap<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> New?
    ) -> BoundPromise<Object, New> {
        .init(promise.compactMap { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `check` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it, and what it throws rejects. Cancelling the result withdraws from this
    /// promise; the handler then never runs.
    @inlinable
    public func validate(
        _ check: @escaping @Sendable (Object, Value) throws -> Bool
    ) -> BoundPromise {
        .init(promise.validate { [owner] in try check(owner.get(), $0) }, owner)
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. An
    /// error skips it, and what it throws rejects. Cancelling the result withdraws from this
    /// promise; the handler then never runs.
    @inlinable
    public func done(
        _ body: @escaping @Sendable (Object, Value) throws -> Void
    ) -> BoundPromise<Object, Void> {
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
        _ body: @escaping @Sendable (Object, any Error) throws -> Void
    ) -> BoundPromise {
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
        _ body: @escaping @Sendable (Object, any Error) throws -> Promise<Value>
    ) -> BoundPromise {
        .init(promise.recover(policy: policy) { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists. It
    /// cannot throw, and does not receive the outcome. Cancelling the result withdraws from this
    /// promise, and `body` still runs.
    @inlinable
    public func ensure(_ body: @escaping @Sendable (Object) -> Void) -> BoundPromise {
        .init(.init(promise.node.ensure(Value.self, with: owner, body)), owner)
    }

    /// Ends the chain. The result is fulfilled at the end of the chain, whether or not the handler
    /// ran.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner still exists and
    /// the policy covers the error; by default it does not cover a cancellation. The error counts
    /// as handled. The result cannot fail and cannot be cancelled.
    @inlinable @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @Sendable (Object, any Error) -> Void
    ) -> Guarantee<Void> {
        promise.catch(policy: policy) { [owner] error in
            if let object = try? owner.get() { body(object, error) }
        }
    }
}
