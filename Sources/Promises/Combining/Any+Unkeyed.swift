// The compiler's message for `any` of promises without keys. Without this declaration it reports a
// failed conversion to a dictionary.

/// Unavailable: `any` gives each outcome by its key. It never runs, so there is nothing to cancel.
@_disfavoredOverload
@available(*, unavailable, message: "any needs keys: any([\"a\": a]); or use race, allSettled")
public func any<Value: Sendable>(_ promises: [Promise<Value>]) -> Promise<[Value]> {
    .error(PromiseError.badInput)
}

extension LocalContext {
    /// Unavailable: `any` gives each outcome by its key. It never runs, so there is nothing to
    /// cancel.
    @_disfavoredOverload
    @available(*, unavailable, message: "any needs keys: any([\"a\": a]); or use race, allSettled")
    public func any<Value>(_ promises: [LocalPromise<Value>]) -> LocalPromise<[Value]> {
        error(PromiseError.badInput)
    }
}
