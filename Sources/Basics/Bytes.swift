/// An immutable run of bytes: a shared chunk of memory and a range of it.
///
/// Copying and slicing share the chunk; the bytes themselves are not copied. A slice keeps its
/// whole chunk alive, so copy long-lived small slices of large chunks (`Bytes(copying:)`).
@usableFromInline
package struct Bytes: Sendable {
    @usableFromInline let chunk: [UInt8]
    @usableFromInline let start: Int

    /// The number of bytes.
    @usableFromInline package let count: Int

    @inlinable
    init(chunk: [UInt8], start: Int, count: Int) {
        self.chunk = chunk
        self.start = start
        self.count = count
    }

    /// No bytes; allocates nothing.
    @inlinable
    package init() {
        self.init(chunk: [], start: 0, count: 0)
    }

    /// The whole of an array, shared and not copied.
    @inlinable
    package init(_ array: [UInt8]) {
        self.init(chunk: array, start: 0, count: array.count)
    }

    /// The UTF-8 of a string, copied.
    @inlinable
    package init(_ string: some StringProtocol) {
        self.init(Array(string.utf8))
    }

    /// A copy of borrowed bytes, such as the bytes of a read buffer.
    @inlinable
    package init(copying span: Span<UInt8>) {
        var copy: [UInt8] = []
        copy.append(copying: span)
        self.init(copy)
    }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// The bytes, borrowed.
    @inlinable @inline(__always)
    package var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { chunk.span.extracting(start..<(start + count)) }
    }

    /// The byte at `offset`, counted from the start of this run. Traps outside of it.
    @inlinable
    package subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count, "offset outside of the bytes")
        return chunk[start + offset]
    }

    /// A part of this run, sharing its chunk. Traps outside of it.
    @inlinable
    package subscript(range: Range<Int>) -> Bytes {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= count, "range outside of the bytes")
        return Bytes(chunk: chunk, start: start + range.lowerBound, count: range.count)
    }

    /// The bytes as a new array.
    package var array: [UInt8] { Array(chunk[start..<(start + count)]) }
}

extension Bytes: Equatable {
    @usableFromInline package static func == (left: Bytes, right: Bytes) -> Bool {
        left.count == right.count
            && left.chunk[left.start..<(left.start + left.count)]
                .elementsEqual(right.chunk[right.start..<(right.start + right.count)])
    }
}

extension String {
    /// The bytes read as UTF-8; malformed sequences become U+FFFD.
    package init(_ bytes: Bytes) {
        self.init(decoding: bytes.chunk[bytes.start..<(bytes.start + bytes.count)], as: UTF8.self)
    }

    /// The bytes read as UTF-8; malformed sequences become U+FFFD.
    package init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends borrowed bytes in one copy; there must be room for them.
    @inlinable
    package mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { source in
            guard let first = source.baseAddress else { return }
            unsafe append(copying: source.count, from: first)
        }
    }

    @inlinable
    mutating func append(copying count: Int, from first: UnsafePointer<UInt8>) {
        precondition(count <= freeCapacity)
        unsafe withUnsafeMutableBufferPointer { memory, initialized in
            guard let start = memory.baseAddress else { return }
            unsafe (start + initialized).initialize(from: first, count: count)
            initialized += count
        }
    }
}

extension [UInt8] {
    /// Appends borrowed bytes in one copy. `append(contentsOf:)` does the same for any sequence,
    /// with half as many instructions more.
    @inlinable
    package mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append(copying: $0) }
    }

    @inlinable
    mutating func append(copying source: UnsafeBufferPointer<UInt8>) {
        // Returns early for no bytes: all threads share the empty array, and not even a count of
        // zero may be written to it.
        guard let first = source.baseAddress, source.count > 0 else { return }
        append(addingCapacity: source.count) { tail in
            unsafe tail.append(copying: source.count, from: first)
        }
    }

    /// Appends a run of bytes in one copy.
    @inlinable
    package mutating func append(_ bytes: Bytes) {
        append(copying: bytes.span)
    }

    /// Appends the lowest bytes of a word, the lowest first.
    @inlinable
    package mutating func append(text word: UInt64, count: Int = 8) {
        unsafe Swift.withUnsafeBytes(of: word.littleEndian) { bytes in
            unsafe append(
                copying: UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[..<count]))
        }
    }

    /// Appends the text of a literal.
    @inlinable
    package mutating func append(literal: StaticString) {
        unsafe append(
            copying: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends the UTF-8 of a string.
    @inlinable
    package mutating func append(_ string: String) {
        append(contentsOf: string.utf8)
    }

    /// Appends an integer in decimal.
    package mutating func append(decimal value: some FixedWidthInteger & UnsignedInteger) {
        append(decimal: UInt64(value), digitsMin: 1)
    }

    private mutating func append(decimal value: UInt64, digitsMin: Int) {
        let bound: UInt64 = 100_000_000
        if value >= bound {
            append(decimal: value / bound, digitsMin: 1)
            return append(decimal: value % bound, digitsMin: 8)
        }
        let digits = DecimalDigits(value, atLeast: digitsMin)
        append(text: digits.text, count: digits.count)
    }
}
