/// The write side of a `Promise`: settles it once, and rejects it if it is dropped unused.
///
/// Not copyable, so settling twice does not compile. Every way of settling may be called from any
/// thread, returns before any handler has run, and changes nothing when the promise has been
/// cancelled meanwhile. A resolver that is dropped unused rejects with `PromiseError.abandoned`,
/// and diagnostics report it.
public struct Resolver<Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let node: Node
    private var mustSettle = true

    /// The resolver of a new pending promise.
    ///
    /// - Parameters:
    ///   - context: the context of the handlers; by default the context of the calling handler, or
    ///     else `SharedPool`.
    ///   - file: the source file that diagnostics report.
    ///   - line: the same.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        node = Node.root(Value.self, placement: .forNewChain(on: context), file, line)
    }

    init(_ node: Node) {
        self.node = node
    }

    deinit { if mustSettle { node.abandon() } }

    /// The read side: pending until this resolver settles it or is dropped, or until it is
    /// cancelled.
    @inlinable
    public var promise: Promise<Value> { Promise(node) }

    /// Settles with a value. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func fulfill(_ value: consuming sending Value) { node.fulfill(value) }

    /// Settles with an error. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func reject(_ error: any Error) { node.reject(error) }

    /// Settles with a value or an error. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func resolve(_ result: sending Result<Value, any Error>) {
        node.resolve(result)
    }

    /// Settles with the arguments of a callback: an error takes precedence, and a pair without
    /// either rejects with `PromiseError.invalidCallingConvention`.
    @inlinable
    public consuming func resolve(_ value: sending Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Settles with the outcome of another promise, whose consumer this one becomes: cancelling it,
    /// before this call or after it, withdraws from the other. The closures of `onCancel` are
    /// dropped.
    ///
    /// The outcome arrives one turn of this promise's context after the other's. A promise that
    /// would wait for itself rejects with `PromiseError.resolvedWithItself`.
    @inlinable
    public consuming func follow(_ other: Promise<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether the promise was cancelled: no consumer is left, and settling it does nothing.
    public var isCancelled: Bool { node.control.bits & ControlBits.cancelled != 0 }

    /// Sets a closure that stops the work when the last consumer has withdrawn.
    ///
    /// `body` runs at most once, on the promise's context, in a turn of its own: soon when the
    /// promise was cancelled already, and never when it is settled otherwise. It receives the
    /// cause, if there is one. Several closures run in the order in which they were passed.
    public borrowing func onCancel(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// A resolver that several owners may hold; the first call settles. Closures of `onCancel`
    /// stay.
    public consuming func shared() -> SharedResolver<Value> {
        mustSettle = false
        return SharedResolver(node)
    }
}

/// The write side of a `LocalPromise`: settles it once, and rejects it if it is dropped unused.
///
/// Not copyable, so settling twice does not compile. Settling returns before any handler has run,
/// and changes nothing when the promise has been cancelled meanwhile. A resolver that is dropped
/// unused rejects with `PromiseError.abandoned`, and diagnostics report it.
///
/// Store it where the result will arrive:
///
///     private var resolver: LocalResolver<Reply>?
///     ...
///     resolver.take()?.fulfill(reply)
public struct LocalResolver<Value>: ~Copyable {
    @usableFromInline let node: Node

    /// The resolver of a new pending promise.
    ///
    /// - Parameters:
    ///   - local: where handlers run.
    ///   - file: the source file that diagnostics report.
    ///   - line: the same.
    @inlinable
    public init(on local: LocalContext, file: StaticString = #fileID, line: UInt = #line) {
        node = Node.root(Value.self, placement: local.placement, file, line)
    }

    @inlinable
    deinit { node.abandon() }

    /// The read side: pending until this resolver settles it or is dropped, or until it is
    /// cancelled.
    @inlinable
    public var promise: LocalPromise<Value> { LocalPromise(node) }

    /// Settles with a value. Handlers run in turns of their own, on the local context.
    @inlinable
    public consuming func fulfill(_ value: consuming Value) { node.fulfill(value) }

    /// Settles with an error. Handlers run in turns of their own, on the local context.
    @inlinable
    public consuming func reject(_ error: any Error) { node.reject(error) }

    /// Settles with a value or an error. Handlers run in turns of their own, on the local context.
    @inlinable
    public consuming func resolve(_ result: Result<Value, any Error>) { node.resolve(result) }

    /// Settles with the arguments of a callback: an error takes precedence, and a pair without
    /// either rejects with `PromiseError.invalidCallingConvention`.
    @inlinable
    public consuming func resolve(_ value: Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Settles with the outcome of another promise, whose consumer this one becomes: cancelling it,
    /// before this call or after it, withdraws from the other. The closures of `onCancel` are
    /// dropped.
    ///
    /// The outcome arrives one turn after the other's. A promise that would wait for itself rejects
    /// with `PromiseError.resolvedWithItself`.
    @inlinable
    public consuming func follow(_ other: LocalPromise<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether the promise was cancelled: no consumer is left, and settling it does nothing.
    @inlinable
    public var isCancelled: Bool { node.control.bits & ControlBits.cancelled != 0 }

    /// Sets a closure that stops the work when the last consumer has withdrawn.
    ///
    /// `body` runs at most once, on the local context, in a turn of its own: soon when the promise
    /// was cancelled already, and never when it is settled otherwise. It receives the cause, if
    /// there is one. Several closures run in the order in which they were passed.
    @inlinable
    public borrowing func onCancel(_ body: @escaping ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// Cancels an object when the last consumer has withdrawn; otherwise like the other `onCancel`.
    ///
    /// Allocates nothing, because the closure that is stored captures only the object.
    @inlinable
    public borrowing func onCancel<Object: Cancellable & AnyObject>(cancel object: Object) {
        node.onCancel { object.cancel(because: $0.cancellationCause) }
    }
}

@available(*, unavailable)
extension LocalResolver: Sendable {}

extension Node {
    @discardableResult @inlinable
    func resolve<Value>(_ result: Result<Value, any Error>) -> Bool {
        switch result {
        case .success(let value): fulfill(value)
        case .failure(let error): reject(error)
        }
    }

    @discardableResult @inlinable
    func resolve<Value>(_ value: Value?, _ error: (any Error)?) -> Bool {
        if let error {
            reject(error)
        } else if let value {
            fulfill(value)
        } else {
            reject(PromiseError.invalidCallingConvention)
        }
    }

    /// The producer releases the resolver.
    @inlinable
    func abandon() {
        if control.bits & (ControlBits.root | ControlBits.decided) == ControlBits.root {
            rejectAbandoned()
        }
    }

    @usableFromInline
    func rejectAbandoned() {
        let site = PromiseDiagnostics.site(of: self)
        if reject(PromiseError.abandoned) { PromiseDiagnostics.report(.abandoned(at: site)) }
    }

    @usableFromInline
    var cancellationCause: (any Error)? { (error as? Cancelled)?.cause }
}
