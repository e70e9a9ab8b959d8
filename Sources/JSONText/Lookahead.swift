import CByteClasses

/// Text that may be read beyond its end: missing bytes are zero, which no JSON text may contain.
///
/// Every read is defined, so its callers need no bounds checks. It loads memory without the checks of
/// `Span`; in this module only `ByteSearch.swift` does so, too. It checks once, with one unsigned
/// comparison, where `Span` checks each end.
struct Lookahead: ~Escapable {
    private let text: Span<UInt8>
    let count: Int
    /// At how many offsets eight bytes can be read.
    private let wordCount: UInt

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = text
        count = text.count
        wordCount = UInt(max(0, text.count - 7))
    }

    /// The byte at `offset`.
    @inline(__always)
    func byte(_ offset: Int) -> UInt8 {
        UInt(bitPattern: offset) < UInt(bitPattern: count) ? unsafe text[unchecked: offset] : 0
    }

    /// Two bytes, the first in the lower half.
    @inline(__always)
    func pair(_ offset: Int) -> UInt16 {
        guard UInt(bitPattern: offset) < wordCount else {
            return UInt16(truncatingIfNeeded: wordAtEnd(offset))
        }
        return unsafe UInt16(
            littleEndian: text.bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt16.self))
    }

    /// Eight bytes, the first in the lowest byte.
    @inline(__always)
    func word(_ offset: Int) -> UInt64 {
        UInt(bitPattern: offset) < wordCount ? load(offset) : wordAtEnd(offset)
    }

    @inline(never)
    private func wordAtEnd(_ offset: Int) -> UInt64 {
        guard offset >= 0 && offset < count else { return 0 }
        // The last eight bytes, with those before `offset` shifted out.
        if count >= 8 { return load(count - 8) >> UInt64(8 * (offset - (count - 8))) }
        return (offset..<count).reversed().reduce(0) { $0 << 8 | UInt64(text[$1]) }
    }

    /// The caller has checked that eight bytes are available. Every bit pattern is a valid UInt64.
    @inline(__always)
    private func load(_ offset: Int) -> UInt64 {
        unsafe UInt64(
            littleEndian: text.bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// The offset of the first byte at or after `start` that is not plain inside a string; a missing
    /// byte is not.
    @inline(__always)
    func endOfPlain(_ start: Int) -> Int {
        guard UInt(bitPattern: start) < UInt(bitPattern: count) else { return start }
        return unsafe text.withUnsafeBufferPointer {
            guard let first = $0.baseAddress else { return start }
            return unsafe tributary_end_of_plain(first, count, start, 0)
        }
    }

    /// Calls the closure with the address of the byte at `offset`, and with how many bytes follow.
    @inline(__always)
    func withBytes(from offset: Int, _ body: (UnsafePointer<UInt8>, Int) -> Void) {
        guard UInt(bitPattern: offset) < UInt(bitPattern: count) else { return }
        unsafe text.withUnsafeBufferPointer {
            guard let start = $0.baseAddress else { return }
            unsafe body(start + offset, count &- offset)
        }
    }

    /// A part of the text.
    @inline(__always)
    @_lifetime(copy self)
    func span(_ range: Range<Int>) -> Span<UInt8> { text.extracting(range) }
}
