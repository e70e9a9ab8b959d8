import Synchronization

/// A write side that several owners may hold: the first call settles the promise, and dropping the
/// last reference without a call rejects it with `PromiseError.abandoned`.
///
/// For APIs with several callbacks, one of which is called. Made by `Resolver.shared()`. Every way
/// of settling may be called from any thread and returns before any handler has run; a call that
/// comes too late is reported to diagnostics, unless the promise was cancelled.
public final class SharedResolver<Value: Sendable>: Sendable {
    @usableFromInline let node: Node
    /// Whether a call has settled the promise or made it follow another one, which leaves the node
    /// pending.
    private let isCommitted = Atomic(false)

    init(_ node: Node) {
        self.node = node
    }

    deinit { node.abandon() }

    /// The read side: pending until a call settles it, the last reference to this resolver is
    /// dropped, or it is cancelled.
    @inlinable
    public var promise: Promise<Value> { Promise(node) }

    /// Settles with a value. Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func fulfill(_ value: Value) -> Bool { reportIfLate(commit() && node.fulfill(value)) }

    /// Settles with an error. Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func reject(_ error: any Error) -> Bool { reportIfLate(commit() && node.reject(error)) }

    /// Settles with a value or an error. Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func resolve(_ result: Result<Value, any Error>) -> Bool {
        reportIfLate(settle(result))
    }

    /// Settles with the arguments of a callback: an error takes precedence, and a pair without
    /// either rejects with `PromiseError.invalidCallingConvention`.
    ///
    /// Handlers run in turns of their own, on their contexts.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func resolve(_ value: Value?, _ error: (any Error)?) -> Bool {
        reportIfLate(commit() && node.resolve(value, error))
    }

    /// Settles with the outcome of another promise, once that has one. Later calls do nothing, as
    /// if the promise were settled now.
    ///
    /// The promise becomes a consumer of the other: cancelling it, before this call or after it,
    /// withdraws from the other. The closures given to `onCancel` are dropped. The outcome arrives one turn of this promise's
    /// context after the other's. A promise that would wait for itself rejects with
    /// `PromiseError.resolvedWithItself`.
    ///
    /// - Returns: false if another call came first, or the promise was cancelled.
    @discardableResult
    public func follow(_ other: Promise<Value>) -> Bool {
        guard commit() else { return reportIfLate(false) }
        let isPending = !node.isDecided
        node.follow(other.node) { $0.inherit(Value.self) }
        return isPending
    }

    /// Whether the promise was cancelled: no consumer is left, and settling it does nothing.
    public var isCancelled: Bool { node.control.bits & ControlBits.cancelled != 0 }

    /// Sets a closure that stops the work when the last consumer has withdrawn.
    ///
    /// `body` runs at most once, on the promise's context, in a turn of its own: soon when the
    /// promise was cancelled already, and never when it is settled otherwise or follows another
    /// promise. Its argument is the cause of the cancellation, if one was given. Several closures
    /// run in the order in which they were passed.
    public func onCancel(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        node.onCancel { body($0.cancellationCause) }
    }

    /// Settles like `resolve`, but does not report a late call to diagnostics.
    @discardableResult
    func settle(_ result: Result<Value, any Error>) -> Bool { commit() && node.resolve(result) }

    /// Takes the right to settle; true for the first call only.
    private func commit() -> Bool {
        !isCommitted.exchange(true, ordering: .acquiringAndReleasing)
    }

    private func reportIfLate(_ wasFirst: Bool) -> Bool {
        if !wasFirst, !isCancelled {
            PromiseDiagnostics.report(.resolvedTwice(at: PromiseDiagnostics.site(of: node)))
        }
        return wasFirst
    }
}
