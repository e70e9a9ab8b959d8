/// A promise that is confined to one core: same operators, no locks, no `Sendable`.
///
/// Handlers run on the core, in the order in which they were attached, each in a turn of its own:
/// never inside the call that attaches them or settles the promise.
///
/// Values and closures may hold what belongs to the core. It starts with a `LocalContext`
/// (`core.value(_:)`, `core.firstly`, `LocalResolver(on: core)`), or with `promise.on(core)`, and
/// leaves it through `shared`.
public struct LocalPromise<Value>: Cancellable, PromiseFace {
    @usableFromInline let node: Node

    @inlinable
    init(_ node: Node) {
        self.node = node
    }
}

@available(*, unavailable)
extension LocalPromise: Sendable {}

extension LocalContext {
    /// Already fulfilled. Handlers run on the core, never inside the call that attaches them.
    /// Cancelling a settled promise does nothing.
    @inlinable
    public func value<Value>(_ value: consuming Value) -> LocalPromise<Value> {
        LocalPromise(.settled(value, placement: placement))
    }

    /// Already rejected. Handlers run on the core, never inside the call that attaches them.
    /// Diagnostics report it if no handler is attached. Cancelling a settled promise does nothing.
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
    /// on the core, never inside the call that attaches them.
    public func cancelled<Value>(
        because cause: (any Error)? = nil, as type: Value.Type = Value.self
    ) -> LocalPromise<Value> {
        error(Cancelled(because: cause))
    }

    /// Pending until it is cancelled. What hangs on it lives as long. Handlers run on the core.
    public func never<Value>(as type: Value.Type = Value.self) -> LocalPromise<Value> {
        LocalPromise(.make(Value.self, placement: placement))
    }
}

extension LocalPromise {
    /// What is known now: a snapshot, which is no consumer.
    public var state: PromiseState<Value> { PromiseState(node.result(as: Value.self)) }

    /// The value, if it is fulfilled. A snapshot.
    public var value: Value? { try? node.result(as: Value.self)?.get() }

    /// The error, if it is rejected; `Cancelled`, if it was cancelled. A snapshot, by which the
    /// error does not count as handled.
    public var error: (any Error)? { node.isRejected ? node.error : nil }

    /// Whether there is no outcome yet. A snapshot.
    public var isPending: Bool { node.isPending }

    /// Where its handlers run.
    public var context: any ExecutionContext { node.placement.context }

    /// Rejects this promise with `Cancelled` and withdraws from the work above it, which stops when
    /// no other consumer waits for it.
    ///
    /// The promise is rejected when this returns; handlers run in turns of their own, and a
    /// producer by `onCancel`. Does nothing when there is an outcome already.
    public func cancel(because cause: (any Error)? = nil) {
        node.cancel(with: Cancelled(because: cause))
    }
}

extension LocalPromise where Value: Sendable {
    /// The same outcome for every thread, one turn of the core later; handlers run on the core's
    /// context by default.
    ///
    /// Cancelling the result from another thread withdraws from this promise by a job on the core.
    @inlinable
    public var shared: Promise<Value> {
        Promise(node.link(Value.self, on: node.placement.context) { $0.inherit(Value.self) })
    }
}

extension Promise {
    /// The same outcome on a core, one turn of it later: handlers run there and may use what is
    /// confined to it.
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
