/// Ties a promise to the life of an owner: dropping the scope cancels it.
public struct PromiseScope<Value: Sendable>: ~Copyable, Sendable {
    /// The promise.
    public let promise: Promise<Value>
    private var isKept = false

    /// Takes charge of a promise.
    public init(_ promise: Promise<Value>) { self.promise = promise }

    deinit { if !isKept { promise.cancel() } }

    /// Ends the scope without cancelling.
    public consuming func keep() -> Promise<Value> {
        isKept = true
        return promise
    }
}

/// Ties a promise of a core to the life of an owner: dropping the scope cancels it.
public struct LocalScope<Value>: ~Copyable {
    /// The promise.
    public let promise: Local<Value>
    private var isKept = false

    /// Takes charge of a promise.
    public init(_ promise: Local<Value>) { self.promise = promise }

    deinit { if !isKept { promise.cancel() } }

    /// Ends the scope without cancelling.
    public consuming func keep() -> Local<Value> {
        isKept = true
        return promise
    }
}

@available(*, unavailable)
extension LocalScope: Sendable {}
