/// The value or the error of a node, in its tail. The writer is the caller that decided; a reader
/// has seen the state word settled.
extension Node {
    /// Words that a value takes in the tail. What wants more than a word's alignment is boxed.
    @inlinable
    static func words<Value>(_ type: Value.Type) -> Int {
        isInline(Value.self) ? max(1, (MemoryLayout<Value>.size + 7) / 8) : 1
    }

    @inlinable @inline(__always)
    static func isInline<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
    }

    @inlinable
    static func place<Value>(of type: Value.Type, at slot: UnsafeMutableRawPointer)
        -> UnsafeMutablePointer<Value>
    {
        if isInline(Value.self) { return unsafe slot.assumingMemoryBound(to: Value.self) }
        return unsafe slot.assumingMemoryBound(to: UnsafeMutablePointer<Value>.self).pointee
    }

    /// Fills the empty tail.
    @inlinable
    func write<Value>(_ value: consuming Value) {
        if Node.isInline(Value.self) {
            unsafe slot.initializeMemory(as: Value.self, to: value)
            if !_isPOD(Value.self) { unsafe header.pointee.held = Value.self }
        } else {
            let box = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe box.initialize(to: value)
            unsafe slot.initializeMemory(as: UnsafeMutablePointer<Value>.self, to: box)
            unsafe header.pointee.held = Value.self
        }
    }

    /// Fills the empty tail with an error. Always boxed as `any Error`, never opened.
    @inlinable
    func write(error: any Error) { write(error as any Error) }

    /// A copy of what the tail holds.
    @inlinable
    func value<Value>(as type: Value.Type) -> Value {
        unsafe Node.place(of: Value.self, at: slot).pointee
    }

    /// What the tail holds, moved out: only for the last reader.
    @inlinable
    func moveValue<Value>(as type: Value.Type) -> Value {
        unsafe header.pointee.held = nil
        let place = unsafe Node.place(of: Value.self, at: slot)
        if Node.isInline(Value.self) { return unsafe place.move() }
        let value = unsafe place.move()
        unsafe place.deallocate()
        return value
    }

    /// Empties the tail.
    @inlinable
    func clear() {
        if let held = unsafe header.pointee.held { destroy(held) }
    }

    /// Destroys what the tail holds. Through the type's witnesses, not specialized: values that
    /// need no destruction never come here.
    @usableFromInline
    func destroy(_ held: Any.Type) {
        unsafe header.pointee.held = nil
        func open<Held>(_ type: Held.Type) {
            let place = unsafe Node.place(of: Held.self, at: slot)
            unsafe place.deinitialize(count: 1)
            if !Node.isInline(Held.self) { unsafe place.deallocate() }
        }
        _openExistential(held, do: open)
    }

    @inlinable
    var error: any Error { value(as: (any Error).self) }

    /// The outcome, or nil while there is none.
    @inlinable
    func result<Value>(as type: Value.Type) -> Result<Value, any Error>? {
        let bits = state.bits
        if bits & State.fulfilled != 0 { return .success(value(as: Value.self)) }
        if bits & State.rejected != 0 { return .failure(error) }
        return nil
    }
}
