// Operators that continue with a promise.

extension Node {
    @inlinable
    func then<Next: FlatTransform>(on context: (any ExecutionContext)? = nil, _ transform: Next)
        -> Node
    {
        link(Next.Output.self, on: context, handler: transform) { child in
            guard let handler = child.takeHandler(Next.self),
                let value = child.receive(Next.Input.self)
            else { return }
            do { child.adopt(try handler.nextNode(value), as: Next.Output.self) } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    func thenResult<In, Next: FlatTransform>(
        on context: (any ExecutionContext)? = nil, of type: In.Type, _ transform: Next
    ) -> Node where Next.Input == Result<In, any Error> {
        link(Next.Output.self, on: context, handler: transform) { child in
            guard let handler = child.takeHandler(Next.self), var parent = child.takeParent()
            else { return }
            do {
                let next = try handler.nextNode(parent.takeResult(as: In.self))
                child.adopt(next, as: Next.Output.self)
            } catch {
                child.reject(error)
            }
        }
    }

    /// Keeps the value and combines it with the new promise's value.
    @inlinable
    func adding<Next: FlatTransform, Joined>(
        on context: (any ExecutionContext)? = nil, _ transform: Next,
        _ join: @escaping (Next.Input, Next.Output) -> Joined
    ) -> Node {
        link(Joined.self, on: context, handler: transform) { child in
            guard let handler = child.takeHandler(Next.self),
                let value = child.receive(Next.Input.self)
            else { return }
            do {
                child.wait(for: try handler.nextNode(value)) { child in
                    guard let new = child.receive(Next.Output.self) else { return }
                    child.fulfill(join(value, new))
                }
            } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    static func firstly<Next: NodeHandle>(placement: Placement, _ body: () throws -> Next) -> Node {
        do {
            return try body().node.link(Next.Value.self) { $0.inherit(Next.Value.self) }
        } catch {
            return .failed(error, as: Next.Value.self, placement: placement)
        }
    }
}

extension Promise {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it. The result has the returned
    /// promise's outcome, on its own context; a promise that would wait for itself rejects with
    /// `PromiseError.resolvedWithItself`. Cancelling the result withdraws from this promise, or
    /// from the one that `body` has returned.
    @inlinable
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<New> {
        .init(node.then(on: context, PromiseTransform(body)))
    }

    /// Continues with a guarantee; a throw rejects.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it. Cancelling the result withdraws from
    /// this promise, and never reaches the guarantee.
    @inlinable @_disfavoredOverload  // Closures that fit both select the other overload.
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Guarantee<New>
    ) -> Promise<New> {
        .init(node.then(on: context, GuaranteeTransform(body)))
    }

    /// Continues with another promise after the outcome, a value or an error, cancellation included;
    /// a throw rejects.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. It does not receive the outcome of the promise that it
    /// returns, as a `recover` behind a `then` does. Cancelling the result withdraws from this
    /// promise, in which case the handler never runs, or from the one that `body` has returned.
    @inlinable
    public func thenResult<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Result<Value, any Error>) throws -> Promise<New>
    ) -> Promise<New> {
        .init(node.thenResult(on: context, of: Value.self, PromiseTransform(body)))
    }

    /// Continues with another promise and keeps this value beside the new one.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome: never inside this call. An error skips it; a throw, or an error of the new
    /// promise, rejects. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func adding<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<(Value, New)> {
        .init(node.adding(on: context, PromiseTransform(body)) { ($0, $1) })
    }
}

extension LocalPromise {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it. The result has the returned promise's outcome, on its
    /// own context; a promise that would wait for itself rejects with
    /// `PromiseError.resolvedWithItself`. Cancelling the result withdraws from this promise, or
    /// from the one that `body` has returned.
    @inlinable
    public func then<New>(_ body: @escaping (Value) throws -> LocalPromise<New>) -> LocalPromise<
        New
    > {
        .init(node.then(LocalPromiseTransform(body)))
    }

    /// Continues with another promise after the outcome, a value or an error, cancellation included;
    /// a throw rejects.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never inside
    /// this call. It does not receive the outcome of the promise that it returns, as a `recover`
    /// behind a `then` does. Cancelling the result withdraws from this promise, in which case the
    /// handler never runs, or from the one that `body` has returned.
    @inlinable
    public func thenResult<New>(
        _ body: @escaping (Result<Value, any Error>) throws -> LocalPromise<New>
    ) -> LocalPromise<New> {
        .init(node.thenResult(of: Value.self, LocalPromiseTransform(body)))
    }

    /// Continues with another promise and keeps this value beside the new one.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome: never
    /// inside this call. An error skips it; a throw, or an error of the new promise, rejects.
    /// Cancelling the result withdraws from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<New>(
        _ body: @escaping (Value) throws -> LocalPromise<New>
    ) -> LocalPromise<(Value, New)> {
        .init(node.adding(LocalPromiseTransform(body)) { ($0, $1) })
    }
}

/// Begins a chain: the body runs now, and what it throws rejects.
///
/// The result is a link of its own, on the context of the promise that the body has returned, one
/// turn behind it; cancelling the result withdraws from that promise. After a throw its handlers
/// run on the current context, or else on `SharedPool`.
@inlinable
public func firstly<Value: Sendable>(_ body: () throws -> Promise<Value>) -> Promise<Value> {
    .init(Node.firstly(placement: .forNewChain(on: nil), body))
}

extension LocalContext {
    /// Begins a chain: the body runs now, and what it throws rejects.
    ///
    /// The result is a link of its own, one turn behind the promise that the body has returned, on
    /// this local context; cancelling the result withdraws from that promise.
    @inlinable
    public func firstly<Value>(_ body: () throws -> LocalPromise<Value>) -> LocalPromise<Value> {
        .init(Node.firstly(placement: placement, body))
    }
}
