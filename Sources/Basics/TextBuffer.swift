/// Text that is appended to memory of its own, which is kept for the next text.
///
/// For heads, which consist of many short pieces: an append to an array checks for each piece
/// whether the array is shared, and cannot be inlined.
@safe @usableFromInline
package struct TextBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawPointer
    /// In bytes.
    @usableFromInline var capacity: Int
    /// The number of bytes of the text.
    @usableFromInline package var count: Int

    /// An empty text.
    package init(capacity: Int = TextBuffer.firstCapacity) {
        self.capacity = max(capacity, 16)
        unsafe memory = .allocate(byteCount: self.capacity, alignment: 1)
        count = 0
    }

    /// Enough for most heads.
    package static let firstCapacity = 512

    deinit { unsafe memory.deallocate() }

    /// The text, borrowed.
    @inlinable
    package var span: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get {
            let bytes = unsafe UnsafeRawBufferPointer(start: memory, count: count)
            let span = unsafe Span<UInt8>(_unsafeBytes: bytes)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Removes the text and keeps the memory, if it is not larger than this.
    package mutating func removeAll(keepingCapacityUpTo bytes: Int = .max) {
        count = 0
        guard capacity > bytes else { return }
        unsafe memory.deallocate()
        capacity = Self.firstCapacity
        unsafe memory = .allocate(byteCount: capacity, alignment: 1)
    }

    /// Memory for this many bytes more, behind the text.
    @inlinable @inline(__always)
    mutating func reserve(_ bytes: Int) -> UnsafeMutableRawPointer {
        if capacity - count < bytes { grow(by: bytes) }
        return unsafe memory + count
    }

    @usableFromInline @inline(never)
    mutating func grow(by bytes: Int) {
        let grown = max(2 * capacity, count + bytes)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 1)
        unsafe larger.copyMemory(from: memory, byteCount: count)
        unsafe memory.deallocate()
        unsafe memory = larger
        capacity = grown
    }
}

extension TextBuffer {
    /// Appends a byte.
    @inlinable
    package mutating func append(_ byte: UInt8) {
        unsafe reserve(1).storeBytes(of: byte, as: UInt8.self)
        count += 1
    }

    /// Appends borrowed bytes.
    @inlinable
    package mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { source in
            guard let first = source.baseAddress else { return }
            unsafe reserve(source.count).copyMemory(from: first, byteCount: source.count)
            count += source.count
        }
    }

    /// Appends a run of bytes.
    @inlinable
    package mutating func append(_ bytes: Bytes) {
        append(copying: bytes.span)
    }

    /// Appends the lowest bytes of a word, the lowest first.
    @inlinable
    package mutating func append(text word: UInt64, count bytes: Int = 8) {
        unsafe reserve(8).storeBytes(of: word.littleEndian, as: UInt64.self)
        count += bytes
    }

    /// Appends all bytes of two words, the lowest first.
    @inlinable
    package mutating func append(text first: UInt64, _ second: UInt64) {
        let place = unsafe reserve(16)
        unsafe place.storeBytes(of: first.littleEndian, as: UInt64.self)
        unsafe (place + 8).storeBytes(of: second.littleEndian, as: UInt64.self)
        count += 16
    }

    /// Appends the text of a literal. Inlined, so that the compiler knows its length.
    @inlinable @inline(__always)
    package mutating func append(literal: StaticString) {
        let bytes = literal.utf8CodeUnitCount
        unsafe reserve(bytes).copyMemory(from: literal.utf8Start, byteCount: bytes)
        count += bytes
    }

    /// Appends an integer in decimal.
    package mutating func append(decimal value: UInt64) {
        let bound: UInt64 = 100_000_000
        if value >= bound {
            append(decimal: value / bound)
            let rest = DecimalDigits(value % bound, atLeast: 8)
            append(text: rest.text, count: rest.count)
        } else {
            let digits = DecimalDigits(value)
            append(text: digits.text, count: digits.count)
        }
    }
}

extension String {
    /// The text read as UTF-8; malformed sequences become U+FFFD.
    package init(_ buffer: borrowing TextBuffer) {
        self.init(copying: buffer.span)
    }
}
