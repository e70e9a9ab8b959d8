// A chain whose handlers belong to an owner and do not run without it.

/// An owner that a chain does not keep alive.
@usableFromInline
final class WeakOwner<Object: AnyObject> {
    private weak let object: Object?

    @usableFromInline
    init(_ object: Object) {
        self.object = object
    }

    /// The owner, or an error if it is gone.
    @usableFromInline
    func get() throws -> Object {
        guard let object else { throw PromiseError.contextDeallocated }
        return object
    }
}

extension WeakOwner: Sendable where Object: Sendable {}

extension Node {
    @inlinable
    func onFailure<Object, Value>(
        of type: Value.Type, with owner: WeakOwner<Object>,
        _ body: @escaping (Object, any Error) throws -> Void
    ) -> Node {
        onFailure(of: Value.self, policy: .allErrors) { try body(owner.get(), $0) }
    }

    @inlinable
    func ensure<Object, Value>(
        _ type: Value.Type, with owner: WeakOwner<Object>, _ body: @escaping (Object) -> Void
    ) -> Node {
        watch(Value.self) { child in
            let owner = try? owner.get()
            if let owner { body(owner) }
            guard var above = child.takeParent() else { return }
            guard owner != nil else {
                child.reject(PromiseError.contextDeallocated)
                return
            }
            child.inherit(Value.self, from: &above)
        }
    }
}

/// A promise whose handlers get an owner, which it does not keep alive.
///
/// Made by `Promise.with(weak:)`. When a handler's turn comes and the owner is gone, the handler
/// does not run, not even one of `onFailure` or `ensure`, and the link rejects with
/// `PromiseError.contextDeallocated`.
public struct BoundPromise<Object: AnyObject & Sendable, Value: Sendable>: Sendable {
    /// The same outcome without the owner.
    public let promise: Promise<Value>
    @usableFromInline let owner: WeakOwner<Object>

    @inlinable
    init(_ promise: Promise<Value>, _ owner: WeakOwner<Object>) {
        self.promise = promise
        self.owner = owner
    }
}

extension Promise {
    /// Binds the handlers that follow to an owner, which is not kept alive.
    ///
    /// They run where the promise's handlers run. Nothing is attached yet, so there is nothing to
    /// cancel.
    @inlinable
    public func with<Object: AnyObject & Sendable>(
        weak object: Object
    ) -> BoundPromise<Object, Value> {
        BoundPromise(self, WeakOwner(object))
    }
}

extension BoundPromise {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func then<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> Promise<New>
    ) -> BoundPromise<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Turns the value into another; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func map<New: Sendable>(
        _ body: @escaping @Sendable (Object, Value) throws -> New
    ) -> BoundPromise<Object, New> {
        .init(promise.map { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Looks at the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func onValue(
        _ body: @escaping @Sendable (Object, Value) throws -> Void
    ) -> BoundPromise {
        .init(promise.onValue { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Looks at the error, cancellation included, which passes on; a throw replaces it.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. A
    /// value passes it by. Cancelling the result withdraws from this promise, and `body` runs all
    /// the same, told of the cancellation.
    @inlinable
    public func onFailure(
        _ body: @escaping @Sendable (Object, any Error) throws -> Void
    ) -> BoundPromise {
        .init(.init(promise.node.onFailure(of: Value.self, with: owner, body)), owner)
    }

    /// Continues with another promise after an error, but not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. A
    /// value passes it by. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func recover(
        _ body: @escaping @Sendable (Object, any Error) throws -> Promise<Value>
    ) -> BoundPromise {
        .init(promise.recover { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. It
    /// cannot throw, and is not told the outcome. Cancelling the result withdraws from this
    /// promise, and `body` runs all the same.
    @inlinable
    public func ensure(_ body: @escaping @Sendable (Object) -> Void) -> BoundPromise {
        .init(.init(promise.node.ensure(Value.self, with: owner, body)), owner)
    }
}

/// A promise of a core whose handlers get an owner, which it does not keep alive.
///
/// Made by `Local.with(weak:)`; in all else it is like `BoundPromise`. Handlers run on the core.
public struct LocalBound<Object: AnyObject, Value> {
    /// The same outcome without the owner.
    public let promise: Local<Value>
    @usableFromInline let owner: WeakOwner<Object>

    @inlinable
    init(_ promise: Local<Value>, _ owner: WeakOwner<Object>) {
        self.promise = promise
        self.owner = owner
    }
}

@available(*, unavailable)
extension LocalBound: Sendable {}

extension Local {
    /// Binds the handlers that follow to an owner, which is not kept alive.
    ///
    /// They run where the promise's handlers run. Nothing is attached yet, so there is nothing to
    /// cancel.
    @inlinable
    public func with<Object: AnyObject>(weak object: Object) -> LocalBound<Object, Value> {
        LocalBound(self, WeakOwner(object))
    }
}

extension LocalBound {
    /// Continues with another promise; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func then<New>(
        _ body: @escaping (Object, Value) throws -> Local<New>
    ) -> LocalBound<Object, New> {
        .init(promise.then { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Turns the value into another; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func map<New>(
        _ body: @escaping (Object, Value) throws -> New
    ) -> LocalBound<Object, New> {
        .init(promise.map { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Looks at the value, which passes on; a throw rejects.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. An
    /// error passes it by. Cancelling the result withdraws from this promise; the handler then
    /// never runs.
    @inlinable
    public func onValue(_ body: @escaping (Object, Value) throws -> Void) -> LocalBound {
        .init(promise.onValue { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Looks at the error, cancellation included, which passes on; a throw replaces it.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. A
    /// value passes it by. Cancelling the result withdraws from this promise, and `body` runs all
    /// the same, told of the cancellation.
    @inlinable
    public func onFailure(_ body: @escaping (Object, any Error) throws -> Void) -> LocalBound {
        .init(.init(promise.node.onFailure(of: Value.self, with: owner, body)), owner)
    }

    /// Continues with another promise after an error, but not after a cancellation. A throw
    /// replaces the error.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. A
    /// value passes it by. Cancelling the result withdraws from this promise, or from the one that
    /// `body` has returned.
    @inlinable
    public func recover(
        _ body: @escaping (Object, any Error) throws -> Local<Value>
    ) -> LocalBound {
        .init(promise.recover { [owner] in try body(owner.get(), $0) }, owner)
    }

    /// Runs in every case, cancellation included; the outcome passes on.
    ///
    /// `body` runs on the promise's context, in a turn of its own, if the owner is still there. It
    /// cannot throw, and is not told the outcome. Cancelling the result withdraws from this
    /// promise, and `body` runs all the same.
    @inlinable
    public func ensure(_ body: @escaping (Object) -> Void) -> LocalBound {
        .init(.init(promise.node.ensure(Value.self, with: owner, body)), owner)
    }
}
