// Handlers that continue with another promise, as structs that keep their types: see
// `Handler.swift`.

/// Continues with another promise.
@usableFromInline
protocol FlatTransform<Input, Output> {
    associatedtype Input
    associatedtype Output
    func nextNode(_ input: Input) throws -> Node
}

/// Continues with a `Promise`.
@usableFromInline
struct PromiseTransform<Input, Output: Sendable>: FlatTransform {
    @usableFromInline let call: (Input) throws -> Promise<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> Promise<Output>) { self.call = call }

    @inlinable
    func nextNode(_ input: Input) throws -> Node { try call(input).node }
}

/// Continues with a `Guarantee`, which the withdrawal of its consumer does not cancel.
@usableFromInline
struct GuaranteeTransform<Input, Output: Sendable>: FlatTransform {
    @usableFromInline let call: (Input) throws -> Guarantee<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> Guarantee<Output>) { self.call = call }

    @inlinable
    func nextNode(_ input: Input) throws -> Node {
        let node = try call(input).node
        _ = node.control.insert(ControlBits.shielded)
        return node
    }
}

/// Continues with a `LocalPromise`.
@usableFromInline
struct LocalPromiseTransform<Input, Output>: FlatTransform {
    @usableFromInline let call: (Input) throws -> LocalPromise<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> LocalPromise<Output>) { self.call = call }

    @inlinable
    func nextNode(_ input: Input) throws -> Node { try call(input).node }
}

/// Continues with any promise type; wraps the closure.
@usableFromInline
struct HandleTransform<Input, Handle: NodeHandle>: FlatTransform {
    @usableFromInline typealias Output = Handle.Value
    @usableFromInline let call: (Input) throws -> Handle

    @inlinable
    init(_ call: @escaping (Input) throws -> Handle) { self.call = call }

    @inlinable
    func nextNode(_ input: Input) throws -> Node { try call(input).node }
}
