// Operators of chains whose handlers belong to an owner and do not run without it.

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
        of type: Value.Type, policy: CatchPolicy, with owner: WeakOwner<Object>,
        _ body: @escaping (Object, any Error) throws -> Void
    ) -> Node {
        onFailure(of: Value.self, policy: policy) { try body(owner.get(), $0) }
    }

    @inlinable
    func ensure<Object, Value>(
        _ type: Value.Type, with owner: WeakOwner<Object>, _ body: @escaping (Object) -> Void
    ) -> Node {
        watch(Value.self) { child in
            let owner = try? owner.get()
            if let owner { body(owner) }
            guard var parent = child.takeParent() else { return }
            guard owner != nil else {
                child.reject(PromiseError.contextDeallocated)
                return
            }
            child.inherit(Value.self, from: &parent)
        }
    }
}
