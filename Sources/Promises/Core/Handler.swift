// A handler as the caller wrote it, with its type.
//
// A node keeps it beside its step, not captured by it: so the step is a plain function, and a link
// allocates the node and what the caller's own closure captures, and nothing else. There is one
// struct for each kind of result, because a closure that is made to look more general is wrapped,
// and that allocates.

/// Makes something of a value or an error.
@usableFromInline
struct Transform<Input, Output> {
    @usableFromInline let call: (Input) throws -> Output

    @inlinable
    init(_ call: @escaping (Input) throws -> Output) { self.call = call }
}

/// Makes something of a value, or nothing.
@usableFromInline
struct Attempt<Input, Output> {
    @usableFromInline let call: (Input) throws -> Output?

    @inlinable
    init(_ call: @escaping (Input) throws -> Output?) { self.call = call }
}

/// Checks a value.
@usableFromInline
struct Check<Input> {
    @usableFromInline let call: (Input) throws -> Bool

    @inlinable
    init(_ call: @escaping (Input) throws -> Bool) { self.call = call }
}

/// Observes a value.
@usableFromInline
struct Look<Input> {
    @usableFromInline let call: (Input) throws -> Void

    @inlinable
    init(_ call: @escaping (Input) throws -> Void) { self.call = call }
}

/// Observes an outcome and passes nothing on.
@usableFromInline
struct Observe<Input> {
    @usableFromInline let call: (Input) -> Void

    @inlinable
    init(_ call: @escaping (Input) -> Void) { self.call = call }
}

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

/// Continues with a `Local`.
@usableFromInline
struct LocalLead<Input, Output>: Lead {
    @usableFromInline let call: (Input) throws -> Local<Output>

    @inlinable
    init(_ call: @escaping (Input) throws -> Local<Output>) { self.call = call }

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

/// Any of them, while only the step knows which: it can be kept and dropped, and nothing else.
///
/// Every closure of Swift is a function and one counted context, whatever its type. It is cast in
/// place: a cast of the closure itself would count the context once more.
@usableFromInline
struct AnyHandler {
    @usableFromInline let closure: () -> Void
}

extension Node {
    @inlinable @inline(__always)
    func handlerPlace<Handler>(_ type: Handler.Type) -> UnsafeMutablePointer<Handler?> {
        unsafe UnsafeMutableRawPointer(stepPlace + 1).assumingMemoryBound(to: Handler?.self)
    }

    /// While the node is made: puts one of the structs above in place.
    @inlinable @inline(__always)
    func keep<Handler>(_ handler: Handler) {
        unsafe handlerPlace(Handler.self).initialize(to: handler)
    }

    /// In a step: what was put in place, which dies with this turn.
    @inlinable @inline(__always)
    func takeHandler<Handler>(_ type: Handler.Type) -> Handler? {
        let place = unsafe handlerPlace(Handler.self)
        let taken = unsafe place.move()
        unsafe place.initialize(to: nil)
        return taken
    }

    /// Before its turn: the closure is not needed any more.
    @inlinable
    func dropHandler() { unsafe header.pointee.handler = nil }
}
