/// The value or the error of a node, in its storage behind the two words. The caller that decided
/// writes it; a reader has read a settled state word.
extension Node {
    /// Words that a value takes in the storage. Values with more than a word's alignment are boxed.
    @inlinable
    static func words<Value>(_ type: Value.Type) -> Int {
        isInline(Value.self) ? max(1, (MemoryLayout<Value>.size + 7) / 8) : 1
    }

    @inlinable @inline(__always)
    static func isInline<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
    }

    @inlinable
    static func valuePointer<Value>(of type: Value.Type, at valueSlot: UnsafeMutableRawPointer)
        -> UnsafeMutablePointer<Value>
    {
        if isInline(Value.self) { return unsafe valueSlot.assumingMemoryBound(to: Value.self) }
        return unsafe valueSlot.assumingMemoryBound(to: UnsafeMutablePointer<Value>.self).pointee
    }

    /// Fills the empty storage.
    @inlinable
    func write<Value>(_ value: consuming Value) {
        if Node.isInline(Value.self) {
            unsafe valueSlot.initializeMemory(as: Value.self, to: value)
            if !_isPOD(Value.self) { unsafe header.pointee.storedType = Value.self }
        } else {
            let box = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe box.initialize(to: value)
            unsafe valueSlot.initializeMemory(as: UnsafeMutablePointer<Value>.self, to: box)
            unsafe header.pointee.storedType = Value.self
        }
    }

    /// Fills the empty storage with an error. Always boxed as `any Error`, never opened.
    @inlinable
    func write(error: any Error) { write(error.asRejection as any Error) }

    /// A copy of the stored value.
    @inlinable
    func value<Value>(as type: Value.Type) -> Value {
        unsafe Node.valuePointer(of: Value.self, at: valueSlot).pointee
    }

    /// The stored value, moved out: only for the last reader.
    @inlinable
    func moveValue<Value>(as type: Value.Type) -> Value {
        unsafe header.pointee.storedType = nil
        let place = unsafe Node.valuePointer(of: Value.self, at: valueSlot)
        if Node.isInline(Value.self) { return unsafe place.move() }
        let value = unsafe place.move()
        unsafe place.deallocate()
        return value
    }

    /// Empties the storage.
    @inlinable @inline(__always)
    func clear() {
        guard let type = unsafe header.pointee.storedType else { return }
        unsafe header.pointee.storedType = nil
        unsafe Node.destroyValue(of: type, at: valueSlot)
    }

    /// Destroys a stored value through its type's witnesses, not specialized: values that need no
    /// destruction never come here. Static, so that a node that is being freed is not retained.
    @usableFromInline
    static func destroyValue(of type: Any.Type, at valueSlot: UnsafeMutableRawPointer) {
        func open<Stored>(_ type: Stored.Type) {
            let place = unsafe Node.valuePointer(of: Stored.self, at: valueSlot)
            unsafe place.deinitialize(count: 1)
            if !Node.isInline(Stored.self) { unsafe place.deallocate() }
        }
        _openExistential(type, do: open)
    }

    @inlinable
    var error: any Error { value(as: (any Error).self) }

    /// The outcome, or nil while there is none.
    @inlinable
    func result<Value>(as type: Value.Type) -> Result<Value, any Error>? {
        let bits = state.bits
        if bits & StateBits.fulfilled != 0 { return .success(value(as: Value.self)) }
        if bits & StateBits.rejected != 0 { return .failure(error) }
        return nil
    }
}
