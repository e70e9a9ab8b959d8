/// Ties a promise to the lifetime of an owner: dropping the scope cancels the promise, which
/// withdraws from its work. Does nothing if the promise is settled.
public struct PromiseScope<Value: Sendable>: ~Copyable, Sendable {
    /// The promise that the scope cancels when it ends.
    public let promise: Promise<Value>
    private var isKept = false

    /// A scope that cancels a promise at its end. The scope does not count as a consumer: it
    /// cancels the promise itself.
    public init(_ promise: Promise<Value>) { self.promise = promise }

    deinit { if !isKept { promise.cancel() } }

    /// Ends the scope without cancelling, and returns the promise.
    public consuming func keep() -> Promise<Value> {
        isKept = true
        return promise
    }
}
