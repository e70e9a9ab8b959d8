/// The write side of a `Guarantee`, which it fulfils once.
///
/// Not copyable, so fulfilling twice does not compile. `fulfill` may be called from any thread and
/// returns before any handler has run. A guarantee cannot fail: if its resolver is dropped unused,
/// the guarantee is never fulfilled. Diagnostics then report `PromiseEvent.abandoned`, no handler
/// runs, and `Guarantee.promise` rejects with `PromiseError.abandoned`.
public struct GuaranteeResolver<Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let node: Node
    @usableFromInline var mustFulfill = true

    /// The resolver of a new pending guarantee.
    ///
    /// - Parameters:
    ///   - context: the context of the handlers; by default the context of the calling handler, or
    ///     else `SharedPool`.
    ///   - file: the source file that diagnostics report.
    ///   - line: the line that diagnostics report.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        node = Node.root(Value.self, placement: .forNewChain(on: context), file, line)
    }

    @inlinable
    deinit { if mustFulfill { node.abandon() } }

    /// The read side: pending until this resolver fulfils it. It cannot be cancelled.
    @inlinable
    public var guarantee: Guarantee<Value> { Guarantee(node) }

    /// Fulfils the guarantee. Handlers run in turns of their own, on their contexts.
    @inlinable
    public consuming func fulfill(_ value: consuming sending Value) { node.fulfill(value) }

    /// A resolver that several owners may hold; the first call fulfils.
    public consuming func shared() -> SharedGuaranteeResolver<Value> {
        mustFulfill = false
        return SharedGuaranteeResolver(SharedResolver(node))
    }
}

/// A write side of a `Guarantee` that several owners may hold: the first call fulfils it. Dropping
/// the last reference without a call abandons the guarantee, as `GuaranteeResolver` does.
///
/// For APIs with several callbacks, and for escaping closures. Made by
/// `GuaranteeResolver.shared()`.
public struct SharedGuaranteeResolver<Value: Sendable>: Sendable {
    private let resolver: SharedResolver<Value>

    init(_ resolver: SharedResolver<Value>) {
        self.resolver = resolver
    }

    /// The read side: pending until a call fulfils it. It cannot be cancelled.
    public var guarantee: Guarantee<Value> { Guarantee(resolver.node) }

    /// Fulfils the guarantee, from any thread. Handlers run in turns of their own, on their
    /// contexts. A call that comes too late is reported to diagnostics.
    ///
    /// - Returns: false if another call came first.
    @discardableResult
    public func fulfill(_ value: Value) -> Bool { resolver.fulfill(value) }
}
