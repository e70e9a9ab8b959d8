// `race` and `firstSettled` for promises that are listed as arguments.

/// The first value; the result then withdraws from the others. `ErrorArray` when all were rejected.
///
/// Handlers run on the context of the first promise, in a turn after the promise that decides it.
/// Cancelling the result withdraws from every promise that is still pending.
public func race<Value: Sendable>(
    _ first: Promise<Value>, _ second: Promise<Value>, _ others: Promise<Value>...
) -> Promise<Value> {
    race([first, second] + others)
}

/// The first outcome, an error or not; the result then withdraws from the others.
///
/// Handlers run on the context of the first promise, in a turn after the promise that decides it.
/// Cancelling the result withdraws from every promise that is still pending.
public func firstSettled<Value: Sendable>(
    _ first: Promise<Value>, _ second: Promise<Value>, _ others: Promise<Value>...
) -> Promise<Value> {
    firstSettled([first, second] + others)
}

extension LocalContext {
    /// The first value; the result then withdraws from the others. `ErrorArray` when all were
    /// rejected.
    ///
    /// Handlers run on the local context, in a turn after the promise that decides it. Cancelling
    /// the result withdraws from every promise that is still pending.
    @inlinable
    public func race<Value>(
        _ first: LocalPromise<Value>, _ second: LocalPromise<Value>,
        _ others: LocalPromise<Value>...
    ) -> LocalPromise<Value> {
        race([first, second] + others)
    }

    /// The first outcome, an error or not; the result then withdraws from the others.
    ///
    /// Handlers run on the local context, in a turn after the promise that decides it. Cancelling
    /// the result withdraws from every promise that is still pending.
    @inlinable
    public func firstSettled<Value>(
        _ first: LocalPromise<Value>, _ second: LocalPromise<Value>,
        _ others: LocalPromise<Value>...
    ) -> LocalPromise<Value> {
        firstSettled([first, second] + others)
    }
}
