// A handler that continues with another promise, as the caller wrote it: kept as the structs of
// `Handler.swift` are, and for the same reason.

/// Continues with another promise.
@usableFromInline
protocol Lead<Input, Output> {
    associatedtype Input
    associatedtype Output
    func next(_ input: Input) throws -> Node
}

/// Continues with a `Promise`.
@usableFromInline
struct PromiseLead<Input, Output: Sendable>: Lead {
    @usableFromInline let call: (Input) throws -> Promise<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> Promise<Output>) { self.call = call }

    @inlinable
    func next(_ input: Input) throws -> Node { try call(input).node }
}

/// Continues with a `LocalPromise`.
@usableFromInline
struct LocalLead<Input, Output>: Lead {
    @usableFromInline let call: (Input) throws -> LocalPromise<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> LocalPromise<Output>) { self.call = call }

    @inlinable
    func next(_ input: Input) throws -> Node { try call(input).node }
}

/// Continues with whatever face of a node; wraps the closure.
@usableFromInline
struct FaceLead<Input, Face: PromiseFace>: Lead {
    @usableFromInline typealias Output = Face.Value
    @usableFromInline let call: (Input) throws -> Face

    @inlinable
    init(_ call: @escaping (Input) throws -> Face) { self.call = call }

    @inlinable
    func next(_ input: Input) throws -> Node { try call(input).node }
}
