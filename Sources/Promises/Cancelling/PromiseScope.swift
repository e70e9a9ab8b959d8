/// Ties a promise to the life of an owner: dropping the scope cancels it, which withdraws from the
/// work above it and does nothing if it is settled.
public struct PromiseScope<Value: Sendable>: ~Copyable, Sendable {
    /// The promise that the scope cancels when it ends.
    public let promise: Promise<Value>
    private var isKept = false

    /// Takes charge of a promise. It is no consumer of it: the scope cancels the promise itself.
    public init(_ promise: Promise<Value>) { self.promise = promise }

    deinit { if !isKept { promise.cancel() } }

    /// Ends the scope without cancelling, and gives the promise back.
    public consuming func keep() -> Promise<Value> {
        isKept = true
        return promise
    }
}

/// Ties a promise of a core to the life of an owner: dropping the scope cancels it, which withdraws
/// from the work above it and does nothing if it is settled.
public struct LocalScope<Value>: ~Copyable {
    /// The promise that the scope cancels when it ends.
    public let promise: LocalPromise<Value>
    private var isKept = false

    /// Takes charge of a promise. It is no consumer of it: the scope cancels the promise itself.
    public init(_ promise: LocalPromise<Value>) { self.promise = promise }

    deinit { if !isKept { promise.cancel() } }

    /// Ends the scope without cancelling, and gives the promise back.
    public consuming func keep() -> LocalPromise<Value> {
        isKept = true
        return promise
    }
}

@available(*, unavailable)
extension LocalScope: Sendable {}
