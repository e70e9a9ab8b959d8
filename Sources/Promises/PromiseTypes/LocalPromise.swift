/// A promise that is confined to one thread: the same operators without locks and without
/// `Sendable`.
///
/// Handlers run on its local context, in the order in which they were attached, each in a turn of
/// its own: never inside the call that attaches them or settles the promise.
///
/// Values and closures may hold what is confined to the thread. Local promises are made by a
/// `LocalContext` (`local.value(_:)`, `local.firstly`, `LocalResolver(on: local)`) or by
/// `promise.on(local)`; `shared` converts one for other threads.
public struct LocalPromise<Value>: Cancellable, NodeHandle {
    @usableFromInline let node: Node

    @inlinable
    init(_ node: Node) {
        self.node = node
    }
}

@available(*, unavailable)
extension LocalPromise: Sendable {}

extension LocalContext {
    /// Already fulfilled. Handlers run on the local context, never inside the call that attaches
    /// them. Cancelling a settled promise does nothing.
    @inlinable
    public func value<Value>(_ value: consuming Value) -> LocalPromise<Value> {
        LocalPromise(.settled(value, placement: placement))
    }

    /// Already rejected. Handlers run on the local context, never inside the call that attaches
    /// them. Diagnostics report it if no handler is attached. Cancelling a settled promise does
    /// nothing.
    @inlinable
    public func error<Value>(
        _ error: any Error, as type: Value.Type = Value.self,
        file: StaticString = #fileID, line: UInt = #line
    ) -> LocalPromise<Value> {
        let node = Node.failed(error, as: Value.self, placement: placement)
        PromiseDiagnostics.recordCreation(of: node, file, line)
        return LocalPromise(node)
    }

    /// Already cancelled: rejected with `Cancelled`, which diagnostics do not report. Handlers run
    /// on the local context, never inside the call that attaches them.
    public func cancelled<Value>(
        because cause: (any Error)? = nil, as type: Value.Type = Value.self,
        file: StaticString = #fileID, line: UInt = #line
    ) -> LocalPromise<Value> {
        error(Cancelled(because: cause), file: file, line: line)
    }

    /// Pending until it is cancelled. Its handlers stay in memory as long. Handlers run on the
    /// local context.
    public func never<Value>(as type: Value.Type = Value.self) -> LocalPromise<Value> {
        LocalPromise(.make(Value.self, placement: placement))
    }
}

extension LocalPromise {
    /// The current state: a snapshot, which does not count as a consumer.
    public var state: PromiseState<Value> { PromiseState(node.result(as: Value.self)) }

    /// The value, if it is fulfilled. A snapshot.
    public var value: Value? { try? node.result(as: Value.self)?.get() }

    /// The error, if it is rejected; `Cancelled`, if it was cancelled. A snapshot; reading it does
    /// not count as handling the error.
    public var error: (any Error)? { node.isRejected ? node.error : nil }

    /// Whether there is no outcome yet. A snapshot.
    public var isPending: Bool { node.isPending }

    /// Where its handlers run.
    public var context: any ExecutionContext { node.placement.context }

    /// Rejects this promise with `Cancelled` and withdraws from its work, which stops when no other
    /// consumer waits for it.
    ///
    /// The promise is rejected when this returns; handlers, and the closures of `onCancel`, run in
    /// turns of their own. Does nothing when there is an outcome already.
    public func cancel(because cause: (any Error)? = nil) {
        node.cancel(with: Cancelled(because: cause))
    }
}

extension LocalPromise where Value: Sendable {
    /// The same outcome for every thread, one turn later; handlers run on the same context by
    /// default.
    ///
    /// Cancelling the result from another thread withdraws from this promise in a job on its
    /// context.
    @inlinable
    public var shared: Promise<Value> {
        Promise(node.link(Value.self, on: node.placement.context) { $0.inherit(Value.self) })
    }
}

extension Promise {
    /// The same outcome as a local promise, one turn later: handlers run on the local context and
    /// may use what is confined to it.
    ///
    /// Cancelling the result withdraws from this promise.
    @inlinable
    public func on(_ local: LocalContext) -> LocalPromise<Value> {
        let child = Node.make(Value.self, placement: local.placement, parent: node) {
            $0.inherit(Value.self)
        }
        node.attach(child)
        return LocalPromise(child)
    }
}
