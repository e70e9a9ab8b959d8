/// A promise that cannot fail: it is fulfilled or stays pending.
///
/// Handlers run on its context, in the order in which they were attached, never inside the call
/// that attaches them. It has no failure operators and cannot be cancelled; `promise` converts it
/// for chains that can fail.
public struct Guarantee<Value: Sendable>: Sendable {
    @usableFromInline let node: Node

    @inlinable
    init(_ node: Node) {
        self.node = node
    }
}

extension Guarantee: NodeHandle {}

extension Guarantee {
    /// Already fulfilled. It cannot be cancelled.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never inside
    /// the call that attaches them.
    public static func value(
        _ value: Value, on context: (any ExecutionContext)? = nil
    ) -> Guarantee {
        .init(.settled(value, placement: .forNewChain(on: context)))
    }

    /// Turns the value into another.
    ///
    /// `body` runs in a turn of its own on `context`, or else on the guarantee's context. It cannot
    /// throw, and cannot be cancelled.
    @inlinable
    public func map<New: Sendable>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping @Sendable (Value) -> New
    ) -> Guarantee<New> {
        .init(node.map(on: context, body))
    }

    /// Continues with another guarantee.
    ///
    /// `body` runs in a turn of its own on `context`, or else on the guarantee's context. It cannot
    /// throw, and cannot be cancelled.
    @inlinable
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) -> Guarantee<New>
    ) -> Guarantee<New> {
        .init(node.then(on: context, HandleTransform(body)))
    }

    /// Continues with a promise, which may fail; a throw rejects.
    ///
    /// `body` runs in a turn of its own on `context`, or else on the guarantee's context.
    /// Cancelling the result before that turn means that `body` never runs; later, it withdraws
    /// from the promise that `body` has returned. Cancelling never reaches the guarantee.
    @inlinable @_disfavoredOverload  // Closures that fit both select the other overload.
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<New> {
        promise.then(on: context, body)
    }

    /// The same value; its handlers run on another context, one turn of it later. It cannot be
    /// cancelled.
    @inlinable
    public func hop(to context: any ExecutionContext) -> Guarantee {
        .init(node.link(Value.self, on: context) { $0.inherit(Value.self) })
    }

    /// Ends a chain.
    ///
    /// `body` runs in a turn of its own on `context`, or else on the guarantee's context. It cannot
    /// throw, and cannot be cancelled.
    @inlinable @discardableResult
    public func done(
        on context: (any ExecutionContext)? = nil, _ body: @escaping @Sendable (Value) -> Void
    ) -> Guarantee<Void> {
        .init(node.done(on: context, body))
    }

    /// The same value as a promise, one turn later on the same context. Cancelling the promise does
    /// not reach the guarantee.
    @inlinable
    public var promise: Promise<Value> { .init(node.shielded(Value.self)) }
}

extension LocalContext {
    /// Fulfilled after a delay; soon, but not at once, if the delay is zero or negative.
    ///
    /// Measured on the clock of the context; the delay counts from this call. Handlers run on the
    /// local context. Cancelling the result stops the timer.
    public func after(_ delay: Duration) -> LocalPromise<Void> {
        .init(.after(delay, placement: placement))
    }
}

/// Fulfilled after a delay; soon, but not at once, if the delay is zero or negative.
///
/// Measured on the clock of the context; the delay counts from this call. It cannot be cancelled.
public func after(
    _ delay: Duration, on context: (any ExecutionContext)? = nil
) -> Guarantee<Void> {
    .init(.after(delay, placement: .forNewChain(on: context)))
}
