/// The write side of a `Promise`: settles it once, and rejects it if it is dropped unused.
///
/// Not copyable, so a second answer does not compile. Every way of settling may be called from any
/// thread, returns before any handler has run, and changes nothing when the promise has been
/// cancelled meanwhile. A resolver that is dropped unused rejects with `PromiseError.abandoned`,
/// and diagnostics report it.
public struct Resolver<Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let node: Node
    private var mustSettle = true

    /// A pending promise's resolver.
    ///
    /// - Parameters:
    ///   - context: where handlers run; or else on the context of the handler that calls, or on
    ///     `SharedPool`.
    ///   - file: the source file that diagnostics report.
    ///   - line: the same.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        node = Node.root(Value.self, placement: .beginning(on: context), file, line)
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

    /// Settles either way. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func resolve(_ result: sending Result<Value, any Error>) {
        node.resolve(result)
    }

    /// Settles from a callback's pair: an error wins, and none of both is an error too,
    /// `PromiseError.invalidCallingConvention`.
    @inlinable
    public consuming func resolve(_ value: sending Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Leaves the outcome to another promise, whose consumer this one becomes: cancelling it
    /// withdraws from the other, and what `onCancel` was given is dropped.
    ///
    /// The outcome comes one turn of this promise's context after the other's. A promise that would
    /// wait for itself rejects with `PromiseError.resolvedWithItself`.
    @inlinable
    public consuming func follow(_ other: Promise<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether no consumer is left: the promise was cancelled, and settling it does
    /// nothing.
    public var isCancelled: Bool { node.claim.bits & Claim.cancelled != 0 }

    /// Stops the work when the last consumer has withdrawn.
    ///
    /// `body` runs once at most, on the promise's context, in a turn of its own: soon when the
    /// promise was cancelled already, and never when it is settled otherwise. It receives the
    /// cause, if one was given. If it is set several times, all closures run, in order.
    public borrowing func onCancel(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// A resolver with several holders; the first call settles. What this one was given by
    /// `onCancel` stays.
    public consuming func shared() -> SharedResolver<Value> {
        mustSettle = false
        return SharedResolver(node)
    }
}

/// The write side of a `LocalPromise`: settles it once, and rejects it if it is dropped unused.
///
/// Not copyable, so a second answer does not compile. Settling returns before any handler has run,
/// and changes nothing when the promise has been cancelled meanwhile. A resolver that is dropped
/// unused rejects with `PromiseError.abandoned`, and diagnostics report it.
///
/// Keep it where the answer will come in:
///
///     private var resolver: LocalResolver<Reply>?
///     ...
///     resolver.take()?.fulfill(reply)
public struct LocalResolver<Value>: ~Copyable {
    @usableFromInline let node: Node

    /// A pending promise's resolver.
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

    /// Settles with a value. Handlers run in turns of their own, on the core.
    @inlinable
    public consuming func fulfill(_ value: consuming Value) { node.fulfill(value) }

    /// Settles with an error. Handlers run in turns of their own, on the core.
    @inlinable
    public consuming func reject(_ error: any Error) { node.reject(error) }

    /// Settles either way. Handlers run in turns of their own, on the core.
    @inlinable
    public consuming func resolve(_ result: Result<Value, any Error>) { node.resolve(result) }

    /// Settles from a callback's pair: an error wins, and none of both is an error too,
    /// `PromiseError.invalidCallingConvention`.
    @inlinable
    public consuming func resolve(_ value: Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Leaves the outcome to another promise, whose consumer this one becomes: cancelling it
    /// withdraws from the other, and what `onCancel` was given is dropped.
    ///
    /// The outcome comes one turn after the other's. A promise that would wait for itself rejects
    /// with `PromiseError.resolvedWithItself`.
    @inlinable
    public consuming func follow(_ other: LocalPromise<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether no consumer is left: the promise was cancelled, and settling it does
    /// nothing.
    @inlinable
    public var isCancelled: Bool { node.claim.bits & Claim.cancelled != 0 }

    /// Stops the work when the last consumer has withdrawn.
    ///
    /// `body` runs once at most, on the core, in a turn of its own: soon when the promise was
    /// cancelled already, and never when it is settled otherwise. It receives the cause, if one
    /// gave one. Given several times, all of them run, in order.
    @inlinable
    public borrowing func onCancel(_ body: @escaping ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
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

    /// The producer goes away.
    @inlinable
    func abandon() {
        if claim.bits & (Claim.root | Claim.decided) == Claim.root { rejectAbandoned() }
    }

    @usableFromInline
    func rejectAbandoned() {
        let site = PromiseDiagnostics.site(of: self)
        if reject(PromiseError.abandoned) { PromiseDiagnostics.report(.abandoned(at: site)) }
    }

    @usableFromInline
    var cancellationCause: (any Error)? { (error as? Cancelled)?.cause }
}
