/// A value that will be available later, or an error. Thread-safe.
///
/// The read side: it is settled by a `Resolver`. Handlers run on a context, in the order in which
/// they were attached, each in a turn of its own: never inside the call that attaches them or
/// settles the promise. A chain keeps itself alive.
public struct Promise<Value: Sendable>: Sendable, Cancellable, NodeHandle {
    @usableFromInline let node: Node

    @inlinable
    init(_ node: Node) {
        self.node = node
    }
}

/// What all promise types have in common: one reference to a node that stores a `Value`.
@usableFromInline
protocol NodeHandle<Value> {
    associatedtype Value
    var node: Node { get }
}

extension Promise {
    /// Already fulfilled.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never
    /// inside the call that attaches them. Cancelling
    /// a settled promise does nothing.
    @inlinable
    public static func value(_ value: Value, on context: (any ExecutionContext)? = nil) -> Promise {
        Promise(.settled(value, placement: .forNewChain(on: context)))
    }

    /// Already rejected.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never
    /// inside the call that attaches them. Diagnostics report it if no handler is attached.
    /// Cancelling a settled promise does nothing.
    @inlinable
    public static func error(
        _ error: any Error, on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Promise {
        let node = Node.failed(error, as: Value.self, placement: .forNewChain(on: context))
        PromiseDiagnostics.recordCreation(of: node, file, line)
        return Promise(node)
    }

    /// Already cancelled: rejected with `Cancelled`, which diagnostics do not report.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`, and never
    /// inside the call that attaches them.
    public static func cancelled(
        because cause: (any Error)? = nil, on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Promise {
        .error(Cancelled(because: cause), on: context, file: file, line: line)
    }

    /// Pending until it is cancelled. Its handlers stay in memory as long.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`.
    public static func never(on context: (any ExecutionContext)? = nil) -> Promise {
        Promise(.make(Value.self, placement: .forNewChain(on: context)))
    }

    /// The current state: a snapshot, from any thread, which never blocks and does not count as a
    /// consumer.
    public var state: PromiseState<Value> { PromiseState(node.result(as: Value.self)) }

    /// The value, if it is fulfilled. A snapshot.
    public var value: Value? { try? node.result(as: Value.self)?.get() }

    /// The error, if it is rejected; `Cancelled`, if it was cancelled. A snapshot; reading it does
    /// not count as handling the error.
    public var error: (any Error)? { node.isRejected ? node.error : nil }

    /// Whether there is no outcome yet. A snapshot.
    public var isPending: Bool { node.isPending }

    /// Where its handlers run, by default.
    public var context: any ExecutionContext { node.placement.context }

    /// Rejects this promise with `Cancelled` and withdraws from its work, which stops when no other
    /// consumer waits for it.
    ///
    /// The promise is rejected when this returns; handlers, and the closures of `onCancel`, run in
    /// turns of their own. Called from any thread; does nothing when there is an outcome already.
    public func cancel(because cause: (any Error)? = nil) {
        node.cancel(with: Cancelled(because: cause))
    }
}

/// A snapshot of a promise.
public enum PromiseState<Value> {
    /// No outcome yet.
    case pending
    /// There is a value.
    case fulfilled(Value)
    /// There is an error.
    case rejected(any Error)
    /// Cancelled before there was an outcome.
    case cancelled(cause: (any Error)?)

    /// The state after an outcome, or without one: with it, a handler that receives a `Result`
    /// distinguishes a cancellation from other errors.
    ///
    ///     promise.whenSettled { result in
    ///         switch PromiseState(result) {
    ///         case .cancelled: break
    ///         ...
    ///
    /// - Parameter result: the outcome; nil for `pending`. An error that counts as a cancellation
    ///   gives `cancelled`; its cause is the cause of `Cancelled`, or else the error itself.
    public init(_ result: Result<Value, any Error>?) {
        switch result {
        case nil: self = .pending
        case .success(let value): self = .fulfilled(value)
        case .failure(let error as Cancelled): self = .cancelled(cause: error.cause)
        case .failure(let error):
            self = error.isCancellation ? .cancelled(cause: error) : .rejected(error)
        }
    }
}

extension PromiseState: Sendable where Value: Sendable {}

extension Node {
    @inlinable
    static func settled<Value>(_ value: consuming Value, placement: Placement) -> Node {
        let node = Node.make(Value.self, placement: placement, control: ControlBits.decided)
        node.write(value)
        node.publish(StateBits.fulfilled)
        return node
    }

    @inlinable
    static func failed<Value>(_ error: any Error, as type: Value.Type, placement: Placement) -> Node
    {
        let node = Node.make(Value.self, placement: placement, control: ControlBits.decided)
        node.write(error: error)
        node.publish(StateBits.rejected)
        return node
    }
}
