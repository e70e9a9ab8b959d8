/// A promise whose handlers are isolated to the main actor: they may use a view, a model, or
/// anything else that belongs to it, without `await`.
///
///     fetchUser(42).onMainActor
///         .done { user in label.text = user.name }
///         .catch { error in show(error) }
///
/// Made by `Promise.onMainActor`; `promise` is the same outcome without isolation. Handlers run on
/// `MainActorContext`, in the order in which they were attached, each in a turn of its own. There,
/// too, they are released if they do not run, so they may own objects of the main actor.
public struct MainActorPromise<Value: Sendable>: Sendable {
    /// The same outcome, for handlers without isolation. They run on the main actor's context
    /// unless `on:` selects another.
    public let promise: Promise<Value>

    init(_ promise: Promise<Value>) {
        self.promise = promise
    }
}

extension Promise {
    /// The same outcome for handlers that are isolated to the main actor, one turn of the main
    /// actor's context later. Cancelling a promise that is made from it withdraws from this
    /// promise.
    public var onMainActor: MainActorPromise<Value> {
        MainActorPromise(hop(to: .mainActor))
    }
}

extension MainActorPromise {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it. Cancelling the
    /// result withdraws from this promise, or from the one that `body` has returned.
    public func then<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Value) throws -> Promise<New>
    ) -> MainActorPromise<New> {
        let body = MainActorBody(body)
        return .init(promise.then { value in try body.call { try $0(value) } })
    }

    /// Continues with a guarantee; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it. Cancelling the
    /// result withdraws from this promise, and never reaches the guarantee.
    @_disfavoredOverload  // Closures that fit both select the other overload.
    public func then<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Value) throws -> Guarantee<New>
    ) -> MainActorPromise<New> {
        let body = MainActorBody(body)
        return .init(promise.then { value in try body.call { try $0(value) } })
    }

    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it. Cancelling the
    /// result withdraws from this promise; the handler then never runs.
    public func map<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Value) throws -> New
    ) -> MainActorPromise<New> {
        let body = MainActorBody(body)
        return .init(promise.map { value in try body.call { try $0(value) } })
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it, and what it throws
    /// rejects. Cancelling the result withdraws from this promise; the handler then never runs.
    public func compactMap<New: Sendable>(
        _ body: @escaping @MainActor @Sendable (Value) throws -> New?
    ) -> MainActorPromise<New> {
        let body = MainActorBody(body)
        return .init(promise.compactMap { value in try body.call { try $0(value) } })
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it, and what it throws
    /// rejects. Cancelling the result withdraws from this promise; the handler then never runs.
    public func validate(
        _ body: @escaping @MainActor @Sendable (Value) throws -> Bool
    ) -> MainActorPromise {
        let body = MainActorBody(body)
        return .init(promise.validate { value in try body.call { try $0(value) } })
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it. Cancelling the
    /// result withdraws from this promise; the handler then never runs.
    public func onValue(
        _ body: @escaping @MainActor @Sendable (Value) throws -> Void
    ) -> MainActorPromise {
        let body = MainActorBody(body)
        return .init(promise.onValue { value in try body.call { try $0(value) } })
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on the main actor, in a turn of its own. An error skips it, and what it throws
    /// rejects. Cancelling the result withdraws from this promise; the handler then never runs.
    public func done(
        _ body: @escaping @MainActor @Sendable (Value) throws -> Void
    ) -> MainActorPromise<Void> {
        let body = MainActorBody(body)
        return .init(promise.done { value in try body.call { try $0(value) } })
    }

    /// Observes the error, by default not a cancellation; it passes on. A throw replaces it.
    ///
    /// `body` runs on the main actor, in a turn of its own. A value skips it. Cancelling the result
    /// withdraws from this promise, and `body` still runs, with the cancellation, if the policy
    /// covers it. What it throws after the result was cancelled is ignored.
    public func onFailure(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (any Error) throws -> Void
    ) -> MainActorPromise {
        let body = MainActorBody(body)
        return .init(
            promise.onFailure(policy: policy) { error in try body.call { try $0(error) } })
    }

    /// Continues with another promise after an error, but not after a cancellation unless the
    /// policy covers it. A throw replaces the error.
    ///
    /// `body` runs on the main actor, in a turn of its own. A value skips it. Cancelling the result
    /// withdraws from this promise, or from the one that `body` has returned.
    public func recover(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (any Error) throws -> Promise<Value>
    ) -> MainActorPromise {
        let body = MainActorBody(body)
        return .init(
            promise.recover(policy: policy) { error in try body.call { try $0(error) } })
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the main actor, in a turn of its own. It cannot throw. Cancelling the result
    /// withdraws from this promise, and `body` still runs.
    public func ensure(_ body: @escaping @MainActor @Sendable () -> Void) -> MainActorPromise {
        let body = MainActorBody(body)
        return .init(promise.ensure { body.call { $0() } })
    }

    /// Ends the chain. The result is fulfilled at the end of the chain, whether or not the handler
    /// ran.
    ///
    /// `body` runs on the main actor, in a turn of its own, if the policy covers the error; by
    /// default it does not cover a cancellation. The error counts as handled. The result cannot
    /// fail and cannot be cancelled.
    @discardableResult
    public func `catch`(
        policy: CatchPolicy = .allErrorsExceptCancellation,
        _ body: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Guarantee<Void> {
        let body = MainActorBody(body)
        return promise.catch(policy: policy) { error in body.call { $0(error) } }
    }
}
