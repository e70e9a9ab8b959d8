// The caller's closures as structs that keep their types.
//
// A node stores the handler beside its step; the step does not capture it. So the step is a plain
// function, and a link allocates only the node and the context of the caller's closure. There is
// one struct for each kind of result, because converting a closure to a more general type wraps it,
// which allocates. A call consumes the handler, so that its context is not retained for the call.

/// Turns a value or an error into a value.
@usableFromInline
struct Transform<Input, Output> {
    @usableFromInline let call: (Input) throws -> Output

    @inlinable
    init(_ call: @escaping (Input) throws -> Output) { self.call = call }

    @inlinable @inline(__always)
    consuming func callAsFunction(_ input: Input) throws -> Output { try call(input) }
}

/// Turns a value into an optional value.
@usableFromInline
struct OptionalTransform<Input, Output> {
    @usableFromInline let call: (Input) throws -> Output?

    @inlinable
    init(_ call: @escaping (Input) throws -> Output?) { self.call = call }

    @inlinable @inline(__always)
    consuming func callAsFunction(_ input: Input) throws -> Output? { try call(input) }
}

/// Checks a value.
@usableFromInline
struct Predicate<Input> {
    @usableFromInline let call: (Input) throws -> Bool

    @inlinable
    init(_ call: @escaping (Input) throws -> Bool) { self.call = call }

    @inlinable @inline(__always)
    consuming func callAsFunction(_ input: Input) throws -> Bool { try call(input) }
}

/// Observes a value.
@usableFromInline
struct ValueObserver<Input> {
    @usableFromInline let call: (Input) throws -> Void

    @inlinable
    init(_ call: @escaping (Input) throws -> Void) { self.call = call }

    @inlinable @inline(__always)
    consuming func callAsFunction(_ input: Input) throws { try call(input) }
}

/// Observes an outcome and passes nothing on.
@usableFromInline
struct Observer<Input> {
    @usableFromInline let call: (Input) -> Void

    @inlinable
    init(_ call: @escaping (Input) -> Void) { self.call = call }

    @inlinable @inline(__always)
    consuming func callAsFunction(_ input: Input) { call(input) }
}

/// Any of these structs, untyped: it can only be stored and dropped. The step of the node knows its
/// type.
///
/// Every Swift closure is a function and one reference-counted context, whatever its type. The
/// memory is cast in place: a cast of the closure would retain the context once more.
@usableFromInline
struct AnyHandler {
    @usableFromInline let closure: () -> Void
}

extension Node {
    @inlinable @inline(__always)
    func handlerPointer<Handler>(_ type: Handler.Type) -> UnsafeMutablePointer<Handler?> {
        unsafe UnsafeMutableRawPointer(stepPointer + 1).assumingMemoryBound(to: Handler?.self)
    }

    /// Stores one of the structs above; only while the node is made.
    @inlinable @inline(__always)
    func storeHandler<Handler>(_ handler: Handler) {
        unsafe handlerPointer(Handler.self).initialize(to: handler)
    }

    /// In a step: takes the stored handler out, so that it is released with this turn.
    @inlinable @inline(__always)
    func takeHandler<Handler>(_ type: Handler.Type) -> Handler? {
        let place = unsafe handlerPointer(Handler.self)
        let taken = unsafe place.move()
        unsafe place.initialize(to: nil)
        return taken
    }

    /// Releases the closure of a node that will not run it.
    @inlinable
    func dropHandler() { unsafe header.pointee.handler = nil }
}
