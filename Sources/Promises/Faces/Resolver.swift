/// The write side of a `Promise`: settles it once, and rejects it if it is dropped unused.
public struct Resolver<Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let node: Node
    private var mustSettle = true

    /// A pending promise's resolver. Without a context the handlers run on `SharedPool`.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        node = Node.root(Value.self, home: .beginning(on: context))
        PromiseDiagnostics.noteCreation(of: node, file, line)
    }

    init(_ node: Node) {
        self.node = node
    }

    deinit { if mustSettle { node.abandon() } }

    /// The read side.
    @inlinable
    public var promise: Promise<Value> { Promise(node) }

    /// Settles with a value.
    @inlinable
    public consuming func fulfill(_ value: consuming sending Value) { node.fulfill(value) }

    /// Settles with an error.
    @inlinable
    public consuming func reject(_ error: any Error) { node.reject(error) }

    /// Settles either way.
    @inlinable
    public consuming func resolve(_ result: sending Result<Value, any Error>) {
        node.resolve(result)
    }

    /// Settles from a callback's pair: an error wins, and none of both is an error too.
    @inlinable
    public consuming func resolve(_ value: sending Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Leaves the outcome to another promise.
    @inlinable
    public consuming func follow(_ other: Promise<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether nobody wants the outcome any more.
    public var isCancelled: Bool { node.claim.bits & Claim.cancelled != 0 }

    /// Stops the work when nobody wants it any more: runs once, on the promise's context, at most.
    public borrowing func onCancel(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// A resolver that can be copied; whoever is first settles.
    public consuming func shared() -> SharedResolver<Value> {
        mustSettle = false
        return SharedResolver(node)
    }
}

/// A write side that many may hold: the first one settles, and the last one to drop it unused
/// rejects.
public final class SharedResolver<Value: Sendable>: Sendable {
    @usableFromInline let node: Node

    init(_ node: Node) {
        self.node = node
    }

    deinit { node.abandon() }

    /// The read side.
    @inlinable
    public var promise: Promise<Value> { Promise(node) }

    /// Settles with a value; false if somebody was first.
    @discardableResult
    public func fulfill(_ value: Value) -> Bool { noteIfLate(node.fulfill(value)) }

    /// Settles with an error; false if somebody was first.
    @discardableResult
    public func reject(_ error: any Error) -> Bool { noteIfLate(node.reject(error)) }

    /// Settles either way; false if somebody was first.
    @discardableResult
    public func resolve(_ result: Result<Value, any Error>) -> Bool {
        noteIfLate(node.resolve(result))
    }

    /// Whether nobody wants the outcome any more.
    public var isCancelled: Bool { node.claim.bits & Claim.cancelled != 0 }

    /// Stops the work when nobody wants it any more: runs once, on the promise's context, at most.
    public func onCancel(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// Settles without telling anybody if it was too late.
    func settle(_ result: Result<Value, any Error>) { node.resolve(result) }

    private func noteIfLate(_ wasFirst: Bool) -> Bool {
        if !wasFirst, !isCancelled {
            PromiseDiagnostics.report(.resolvedTwice(at: PromiseDiagnostics.site(of: node)))
        }
        return wasFirst
    }
}

/// The write side of a `Local`: settles it once, and rejects it if it is dropped unused.
///
/// Keep it where the answer will come in:
///
///     private var resolver: LocalResolver<Reply>?
///     ...
///     resolver.take()?.fulfill(reply)
public struct LocalResolver<Value>: ~Copyable {
    @usableFromInline let node: Node

    /// A pending promise's resolver.
    @inlinable
    public init(on core: Core, file: StaticString = #fileID, line: UInt = #line) {
        node = Node.root(Value.self, home: core.home)
        PromiseDiagnostics.noteCreation(of: node, file, line)
    }

    @inlinable
    deinit { node.abandon() }

    /// The read side.
    @inlinable
    public var promise: Local<Value> { Local(node) }

    /// Settles with a value.
    @inlinable
    public consuming func fulfill(_ value: consuming Value) { node.fulfill(value) }

    /// Settles with an error.
    @inlinable
    public consuming func reject(_ error: any Error) { node.reject(error) }

    /// Settles either way.
    @inlinable
    public consuming func resolve(_ result: Result<Value, any Error>) { node.resolve(result) }

    /// Settles from a callback's pair: an error wins, and none of both is an error too.
    @inlinable
    public consuming func resolve(_ value: Value?, _ error: (any Error)?) {
        node.resolve(value, error)
    }

    /// Leaves the outcome to another promise.
    @inlinable
    public consuming func follow(_ other: Local<Value>) {
        node.follow(other.node) { $0.inherit(Value.self) }
    }

    /// Whether nobody wants the outcome any more.
    @inlinable
    public var isCancelled: Bool { node.claim.bits & Claim.cancelled != 0 }

    /// Stops the work when nobody wants it any more: runs once, on the promise's core, at most.
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

    @inlinable
    func resolve<Value>(_ value: Value?, _ error: (any Error)?) {
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
