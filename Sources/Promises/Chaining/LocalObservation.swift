/// What can cancel a local promise that has one reader.
///
/// A reader that keeps the promise in order to cancel it gets a copy of the value, because the
/// promise keeps its own. An observation does not keep the promise, so the value moves to the
/// handler.
@usableFromInline
package struct LocalObservation {
    /// The promise is its parent until its turn.
    @usableFromInline let observer: Node

    @inlinable
    init(_ observer: Node) {
        self.observer = observer
    }

    /// Cancels the promise as `LocalPromise.cancel` does. Does nothing once there is an outcome.
    package func cancel() {
        unsafe observer.header.pointee.parent?.with { $0.cancel(with: Cancelled()) }
    }
}

extension LocalPromise {
    /// Observes the outcome like `whenSettled`, and returns what can cancel this promise.
    ///
    /// The handler owns the outcome: it gets the value itself, and not a copy, unless something else
    /// refers to this promise.
    @inlinable
    package consuming func observe(
        _ body: @escaping (consuming Result<Value, any Error>) -> Void
    ) -> LocalObservation {
        LocalObservation(node.observe(OwningObserver(body)))
    }
}

/// Observes an outcome, which it owns.
@usableFromInline
struct OwningObserver<Input> {
    @usableFromInline let call: (consuming Input) -> Void

    @inlinable
    init(_ call: @escaping (consuming Input) -> Void) { self.call = call }
}

extension Node {
    @inlinable
    func observe<Value>(_ handler: OwningObserver<Result<Value, any Error>>) -> Node {
        let observer = Node.make(Void.self, placement: placement, parent: self) { observer in
            guard
                let handler = observer.takeHandler(OwningObserver<Result<Value, any Error>>.self),
                var parent = observer.takeParent()
            else { return }
            handler.call(parent.takeResult(as: Value.self))
        }
        observer.storeHandler(handler)
        attach(observer: observer)
        return observer
    }
}
