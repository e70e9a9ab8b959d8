// `adding` after `adding`: the tuple stays flat, up to five values. One overload for each length,
// because Swift 6.3 cannot append to a tuple of any length.

extension Promise {
    /// Continues with another promise. Two values become three.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome. An error skips it; a throw, or an error of the new promise, rejects. Cancelling the
    /// result withdraws from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<First: Sendable, Second: Sendable, New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<(First, Second, New)> where Value == (First, Second) {
        .init(node.adding(on: context, PromiseTransform(body)) { ($0.0, $0.1, $1) })
    }

    /// Continues with another promise. Three values become four.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome. An error skips it; a throw, or an error of the new promise, rejects. Cancelling the
    /// result withdraws from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<First: Sendable, Second: Sendable, Third: Sendable, New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<(First, Second, Third, New)> where Value == (First, Second, Third) {
        .init(node.adding(on: context, PromiseTransform(body)) { ($0.0, $0.1, $0.2, $1) })
    }

    /// Continues with another promise. Four values become five.
    ///
    /// `body` runs on `context`, or else on this promise's, in a turn of its own once there is an
    /// outcome. An error skips it; a throw, or an error of the new promise, rejects. Cancelling the
    /// result withdraws from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, New: Sendable
    >(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<(First, Second, Third, Fourth, New)>
    where Value == (First, Second, Third, Fourth) {
        .init(node.adding(on: context, PromiseTransform(body)) { ($0.0, $0.1, $0.2, $0.3, $1) })
    }
}

extension LocalPromise {
    /// Continues with another promise. Two values become three.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome. An error
    /// skips it; a throw, or an error of the new promise, rejects. Cancelling the result withdraws
    /// from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<First, Second, New>(
        _ body: @escaping (Value) throws -> LocalPromise<New>
    ) -> LocalPromise<(First, Second, New)> where Value == (First, Second) {
        .init(node.adding(LocalPromiseTransform(body)) { ($0.0, $0.1, $1) })
    }

    /// Continues with another promise. Three values become four.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome. An error
    /// skips it; a throw, or an error of the new promise, rejects. Cancelling the result withdraws
    /// from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<First, Second, Third, New>(
        _ body: @escaping (Value) throws -> LocalPromise<New>
    ) -> LocalPromise<(First, Second, Third, New)> where Value == (First, Second, Third) {
        .init(node.adding(LocalPromiseTransform(body)) { ($0.0, $0.1, $0.2, $1) })
    }

    /// Continues with another promise. Four values become five.
    ///
    /// `body` runs on the local context, in a turn of its own once there is an outcome. An error
    /// skips it; a throw, or an error of the new promise, rejects. Cancelling the result withdraws
    /// from this promise, or from the one that `body` has returned.
    @inlinable
    public func adding<First, Second, Third, Fourth, New>(
        _ body: @escaping (Value) throws -> LocalPromise<New>
    ) -> LocalPromise<(First, Second, Third, Fourth, New)>
    where Value == (First, Second, Third, Fourth) {
        .init(node.adding(LocalPromiseTransform(body)) { ($0.0, $0.1, $0.2, $0.3, $1) })
    }
}
