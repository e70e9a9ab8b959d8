/// A promise whose handlers are isolated to the main actor and receive an owner, which the promise
/// does not keep alive.
///
///     fetchUser(42).onMainActor.with(weak: self)
///         .done { view, user in view.label.text = user.name }
///         .catch { view, error in view.show(error) }
///
/// Made by `MainActorPromise.with(weak:)`. When a handler's turn comes and the owner is gone, the
/// handler does not run, not even one of `onFailure` or `ensure`, and the link rejects with
/// `PromiseError.contextDeallocated`.
public struct MainActorBound<Object: AnyObject & Sendable, Value: Sendable>: Sendable {
    /// The same outcome without the owner.
    public let promise: MainActorPromise<Value>
    private let owner: WeakOwner<Object>

    init(_ promise: MainActorPromise<Value>, _ owner: WeakOwner<Object>) {
        self.promise = promise
        self.owner = owner
    }
}

extension MainActorPromise {
    /// Binds the handlers that follow to an owner, which the chain does not keep alive.
    ///
    /// They run on the main actor. Nothing is attached yet, so there is nothing to cancel.
    public func with<Object: AnyObject & Sendable>(
        weak object: Object
    ) -> MainActorBound<Object, Value> {
        MainActorBound(self, WeakOwner(object))
    }
}

extension MainActorBound {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it. Cancelling the result withdraws from this promise, or from the one that `body` has
    /// returned.
    public func then<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> Promise<New>
    ) -> MainActorBound<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Continues with a guarantee; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it. Cancelling the result withdraws from this promise, and never reaches the
    /// guarantee.
    @_disfavoredOverload  // Closures that fit both select the other overload.
    public func then<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> Guarantee<New>
    ) -> MainActorBound<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it. Cancelling the result withdraws from this promise; the handler then never runs.
    public func map<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> New
    ) -> MainActorBound<Object, New> {
        .init(promise.map { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    public func compactMap<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> New?
    ) -> MainActorBound<Object, New> {
        .init(promise.compactMap { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `check` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    public func validate(
        _ check: @escaping @MainActor @Sendable (Object, Value) throws -> Bool
    ) -> MainActorBound {
        .init(promise.validate { [owner] in try check(owner.get(), $0) }, owner)
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it. Cancelling the result withdraws from this promise; the handler then never runs.
    public func onValue(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> Void
    ) -> MainActorBound {
        .init(promise.onValue { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. An error
    /// skips it, and what it throws rejects. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    public func done(
        _ body: @escaping @MainActor @Sendable (Object, Value) throws -> Void
    ) -> MainActorBound<Object, Void> {
        .init(promise.done { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Observes the error, by default not a cancellation; it passes on. A throw replaces it.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. A value
    /// skips it. Cancelling the result withdraws from this promise, and `body` still runs, with the
    /// cancellation, if the policy covers it. What it throws after the result was cancelled is
    /// ignored.
    public func onFailure(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (Object, any Error) throws -> Void
    ) -> MainActorBound {
        .init(promise.onFailure(policy: policy) { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Continues with another promise after an error, by default not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. A value
    /// skips it. Cancelling the result withdraws from this promise, or from the one that `body` has
    /// returned.
    public func recover(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (Object, any Error) throws -> Promise<Value>
    ) -> MainActorBound {
        .init(promise.recover(policy: policy) { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists. It cannot
    /// throw, and does not receive the outcome. Cancelling the result withdraws from this promise,
    /// and `body` still runs.
    public func ensure(_ body: @escaping @MainActor @Sendable (Object) -> Void) -> MainActorBound {
        let body = MainActorBody(body)
        let node = promise.promise.node.ensure(Value.self, with: owner) { owner in
            body.call { $0(owner) }
        }
        return .init(.init(.init(node)), owner)
    }

    /// Ends the chain. The result is fulfilled at the end of the chain, whether or not the handler
    /// ran.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the owner still exists and the
    /// policy covers the error; by default it does not cover a cancellation. The error counts as
    /// handled. The result cannot fail and cannot be cancelled.
    @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (Object, any Error) -> Void
    ) -> Guarantee<Void> {
        promise.catch(policy: policy) { [owner] error in
            if let object = try? owner.get() { body(object, error) }
        }
    }
}
