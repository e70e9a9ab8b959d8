/// A handler as the caller wrote it, with its type.
///
/// A node keeps it beside its step, not captured by it: so the step is a plain function, and a link
/// allocates the node and what the caller's own closure captures, and nothing else.
@usableFromInline
struct Handler<Input, Output> {
    @usableFromInline let call: (Input) throws -> Output

    @inlinable
    init(_ call: @escaping (Input) throws -> Output) {
        self.call = call
    }
}

/// The same, while only the step knows its type: it can be kept and dropped, and nothing else.
///
/// Every closure of Swift is a function and one counted context, whatever its type. It is cast in
/// place: a cast of the closure itself would count the context once more.
@usableFromInline
struct AnyHandler {
    @usableFromInline let closure: () -> Void
}

extension Node {
    @inlinable @inline(__always)
    func place<Input, Output>(of type: Handler<Input, Output>.Type)
        -> UnsafeMutablePointer<Handler<Input, Output>?>
    {
        unsafe withUnsafeMutablePointer(to: &header.pointee.handler) {
            unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(
                to: Handler<Input, Output>?.self)
        }
    }

    /// While the node is made: puts the caller's closure in place.
    @inlinable @inline(__always)
    func keep<Input, Output>(_ handler: Handler<Input, Output>) {
        unsafe place(of: Handler<Input, Output>.self).initialize(to: handler)
    }

    /// In a step: the caller's closure, which dies with this turn.
    @inlinable @inline(__always)
    func takeHandler<Input, Output>(
        _ input: Input.Type, _ output: Output.Type
    ) -> Handler<Input, Output>? {
        let place = unsafe place(of: Handler<Input, Output>.self)
        let taken = unsafe place.move()
        unsafe place.initialize(to: nil)
        return taken
    }

    /// Before its turn: the closure is not needed any more.
    @inlinable
    func dropHandler() { unsafe header.pointee.handler = nil }
}
