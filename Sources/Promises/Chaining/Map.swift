// Operators that turn a value into a value. Each is implemented once, on the node; the promise
// types add their signatures.

extension Node {
    @inlinable
    func map<In, Out>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Out
    ) -> Node {
        link(Out.self, on: context, handler: Transform(body)) { child in
            guard let handler = child.takeHandler(Transform<In, Out>.self),
                let value = child.receive(In.self)
            else { return }
            do { child.fulfill(try (consume handler)(value)) } catch { child.reject(error) }
        }
    }

    @inlinable
    func compactMap<In, Out>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Out?
    ) -> Node {
        link(Out.self, on: context, handler: OptionalTransform(body)) { child in
            guard let handler = child.takeHandler(OptionalTransform<In, Out>.self),
                let value = child.receive(In.self)
            else { return }
            do {
                if let result = try (consume handler)(value) {
                    child.fulfill(result)
                } else {
                    child.reject(PromiseError.noValue)
                }
            } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    func validate<In>(
        on context: (any ExecutionContext)? = nil, _ check: @escaping (In) throws -> Bool
    ) -> Node {
        link(In.self, on: context, handler: Predicate(check)) { child in
            guard let handler = child.takeHandler(Predicate<In>.self),
                let value = child.receive(In.self)
            else { return }
            do {
                if try (consume handler)(value) {
                    child.fulfill(value)
                } else {
                    child.reject(PromiseError.validationFailed)
                }
            } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    func onValue<In>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Void
    ) -> Node {
        link(In.self, on: context, handler: ValueObserver(body)) { child in
            guard let handler = child.takeHandler(ValueObserver<In>.self),
                let value = child.receive(In.self)
            else { return }
            do {
                try (consume handler)(value)
                child.fulfill(value)
            } catch {
                child.reject(error)
            }
        }
    }
}

extension Node {
    @inlinable
    func done<In>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Void
    ) -> Node {
        link(Void.self, on: context, handler: ValueObserver(body)) { child in
            guard let handler = child.takeHandler(ValueObserver<In>.self),
                let value = child.receive(In.self)
            else { return }
            do {
                try (consume handler)(value)
                child.fulfill(())
            } catch {
                child.reject(error)
            }
        }
    }
}

extension Promise {
    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it. Cancelling the result withdraws from
    /// this promise; the handler then never runs.
    @inlinable
    public func map<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> New
    ) -> Promise<New> {
        .init(node.map(on: context, body))
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it, and what it throws rejects.
    /// Cancelling the result withdraws from this promise; the handler then never runs.
    @inlinable
    public func compactMap<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> New?
    ) -> Promise<New> {
        .init(node.compactMap(on: context, body))
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `check` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it, and what it throws rejects.
    /// Cancelling the result withdraws from this promise; the handler then never runs.
    @inlinable
    public func validate(
        on context: (any ExecutionContext)? = nil,
        _ check: @escaping @Sendable (Value) throws -> Bool
    ) -> Promise {
        .init(node.validate(on: context, check))
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it. Cancelling the result withdraws from
    /// this promise; the handler then never runs.
    @inlinable
    public func onValue(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Void
    ) -> Promise {
        .init(node.onValue(on: context, body))
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it, and what it throws rejects. The
    /// result may be cancelled like any other: then `body` never runs.
    @inlinable
    public func done(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Void
    ) -> Promise<Void> {
        .init(node.done(on: context, body))
    }

    /// The same outcome without the value.
    ///
    /// An error, a cancellation too, passes on. Cancelling the result withdraws from this promise.
    @inlinable
    public func asVoid() -> Promise<Void> {
        .init(node.map { (_: Value) in })
    }

    /// The same outcome; its handlers run on another context.
    ///
    /// Only the context changes: value, error and cancellation pass on, one turn of the new context
    /// later. Cancelling the result withdraws from this promise.
    @inlinable
    public func hop(to context: any ExecutionContext) -> Promise {
        .init(node.link(Value.self, on: context) { $0.inherit(Value.self) })
    }
}

extension LocalPromise {
    /// Turns the value into another one; a throw rejects.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func map<New>(_ body: @escaping (Value) throws -> New) -> LocalPromise<New> {
        .init(node.map(body))
    }

    /// Like `map`; nil rejects with `PromiseError.noValue`.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it, and what it throws rejects. Cancelling the result
    /// withdraws from this promise; the handler then never runs.
    @inlinable
    public func compactMap<New>(_ body: @escaping (Value) throws -> New?) -> LocalPromise<New> {
        .init(node.compactMap(body))
    }

    /// Passes the value on if the check returns true; else rejects with
    /// `PromiseError.validationFailed`.
    ///
    /// `check` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it, and what it throws rejects. Cancelling the result
    /// withdraws from this promise; the handler then never runs.
    @inlinable
    public func validate(_ check: @escaping (Value) throws -> Bool) -> LocalPromise {
        .init(node.validate(check))
    }

    /// Observes the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it. Cancelling the result withdraws from this promise; the
    /// handler then never runs.
    @inlinable
    public func onValue(_ body: @escaping (Value) throws -> Void) -> LocalPromise {
        .init(node.onValue(body))
    }

    /// Ends the success part of a chain.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it, and what it throws rejects. The result may be cancelled
    /// like any other: then `body` never runs.
    @inlinable
    public func done(_ body: @escaping (Value) throws -> Void) -> LocalPromise<Void> {
        .init(node.done(body))
    }

    /// The same outcome without the value.
    ///
    /// An error, a cancellation too, passes on. Cancelling the result withdraws from this promise.
    @inlinable
    public func asVoid() -> LocalPromise<Void> {
        .init(node.map { (_: Value) in })
    }
}

extension LocalPromise where Value: Sendable {
    /// The same outcome; its handlers run on another context.
    ///
    /// Only the context changes: value, error and cancellation pass on, one turn of the new context
    /// later. Cancelling the result withdraws from this promise.
    @inlinable
    public func hop(to context: any ExecutionContext) -> Promise<Value> {
        shared.hop(to: context)
    }
}
