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
