// Short forms for promises of `Void`, without the empty tuple.

extension Promise where Value == Void {
    /// Already fulfilled.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never inside
    /// the call that attaches them. Cancelling a settled promise does nothing.
    @inlinable
    public static func value(on context: (any ExecutionContext)? = nil) -> Promise {
        value((), on: context)
    }
}

extension Promise where Value == Void {
    /// Unavailable: the compiler's message for `.value` without parentheses. It never runs, so
    /// there is nothing to cancel.
    @available(*, unavailable, message: "write .value() for a fulfilled promise without a value")
    public static var value: Promise { .value() }
}

extension Guarantee where Value == Void {
    /// Unavailable: the compiler's message for `.value` without parentheses. It never runs, so
    /// there is nothing to cancel.
    @available(*, unavailable, message: "write .value() for a guarantee without a value")
    public static var value: Guarantee { .value() }

    /// Already fulfilled. It cannot be cancelled.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never inside
    /// the call that attaches them.
    @inlinable
    public static func value(on context: (any ExecutionContext)? = nil) -> Guarantee {
        value((), on: context)
    }
}

extension LocalContext {
    /// Already fulfilled, without a value. Handlers run on the local context, never inside the call
    /// that attaches them. Cancelling a settled promise does nothing.
    @inlinable
    public func value() -> LocalPromise<Void> { value(()) }
}

extension Resolver where Value == Void {
    /// Fulfils the promise. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func fulfill() { fulfill(()) }
}

extension SharedResolver where Value == Void {
    /// Fulfils the promise. Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func fulfill() -> Bool { fulfill(()) }
}

extension LocalResolver where Value == Void {
    /// Fulfils the promise. Handlers run in turns of their own, on the local context.
    @inlinable
    public consuming func fulfill() { fulfill(()) }
}

extension GuaranteeResolver where Value == Void {
    /// Fulfils the guarantee. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func fulfill() { fulfill(()) }
}

extension SharedGuaranteeResolver where Value == Void {
    /// Fulfils the guarantee. Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first.
    @discardableResult
    public func fulfill() -> Bool { fulfill(()) }
}
