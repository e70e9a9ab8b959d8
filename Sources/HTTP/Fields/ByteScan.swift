import CByteClasses

/// Scans sixteen bytes per step with the functions of `CByteClasses`, and compares eight. A hit in a
/// word is marked by the top bit of its byte; the lowest byte is the first.
extension Span<UInt8> {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }
    /// The bit of each byte that distinguishes lower case from upper case.
    static var caseBits: UInt64 { 0x20 &* ones }

    /// The eight bytes from `offset` on; `RawSpan` checks the bounds.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Unsafe only for types with invalid bit patterns, which an integer does not have.
        unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The four bytes from `offset` on; `RawSpan` checks the bounds.
    @inline(__always)
    func halfWord(at offset: Int) -> UInt32 {
        unsafe UInt32(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The bytes of `word` within `range`; exact for each if no byte has its top bit set.
    @inline(__always)
    private static func hits(_ word: UInt64, in range: ClosedRange<UInt8>) -> UInt64 {
        let reachesLow = word &+ UInt64(0x80 &- range.lowerBound) &* ones
        let passesHigh = word &+ UInt64(0x7F &- range.upperBound) &* ones
        return reachesLow & ~passesHigh & tops
    }

    /// What `find` returns for these bytes: the offset of the first byte at or after `start` that is
    /// not in a class; `count` if there is none.
    @inline(__always)
    private func end(
        from start: Int, of byte: UInt8 = 0,
        _ find: (UnsafePointer<UInt8>, Int, Int, UInt8) -> Int
    ) -> Int {
        precondition(start >= 0, "an offset is not negative")
        return unsafe withUnsafeBufferPointer { text in
            guard start < text.count, let first = text.baseAddress else { return text.count }
            return unsafe find(first, text.count, start, byte)
        }
    }

    /// The offset of the first byte at or after `start` that is invalid in a field value; `count`
    /// if there is none. This also finds the end of a line.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        unsafe end(from: start, tributary_end_of_value)
    }

    /// The offset of the first byte at or after `start` but letters, digits, `-` and `.`, the usual
    /// bytes of names and hosts; `count` if there is none.
    @inline(__always)
    func skipCommonBytes(from start: Int) -> Int {
        unsafe end(from: start, tributary_end_of_name)
    }

    /// Whether it has only letters, digits and `-`, as nearly all field names have.
    package var isUsualFieldName: Bool { unsafe end(from: 0, tributary_end_of_word) == count }

    /// The field line that begins at `start`: the offsets of its colon and of its line end. Nil if its
    /// name has other bytes than letters, digits, `-` and `.`, if it is not valid, or if its end is
    /// missing.
    @inline(__always)
    func usualFieldLine(from start: Int) -> (nameEnd: Int, end: Int)? {
        unsafe withUnsafeBufferPointer { text -> (nameEnd: Int, end: Int)? in
            let last = text.count &- 1
            guard start >= 0, start < last, let first = text.baseAddress else { return nil }
            // Both from the start, so that the processor need not wait for one to begin the other.
            let colon = unsafe tributary_end_of_name(first, text.count, start, 0)
            let end = unsafe tributary_end_of_value(first, text.count, start, 0)
            // Each offset is compared with the count before the byte is read.
            guard colon > start, colon < end, unsafe first[colon] == ASCII.colon,
                end < last, unsafe first[end] == ASCII.carriageReturn,
                unsafe first[end &+ 1] == ASCII.lineFeed
            else { return nil }
            return (colon, end)
        }
    }

    /// The offset of the first byte at or after `start` that ends the path of a target or begins an
    /// escape: `?`, `%`, or a byte that is not in `ByteSet.target`; `count` if there is none.
    @inline(__always)
    func endOfPlainPath(from start: Int) -> Int {
        unsafe end(from: start, tributary_end_of_path)
    }

    /// The offset of the first byte at or after `start` that is not in `ByteSet.query`; `count` if
    /// there is none.
    @inline(__always)
    func endOfQuery(from start: Int) -> Int {
        unsafe end(from: start, tributary_end_of_query)
    }

    /// Whether two words are equal, ASCII letters compared without regard to case.
    @inline(__always)
    static func equalIgnoringCase(_ one: UInt64, _ other: UInt64) -> Bool {
        let difference = one ^ other
        if difference == 0 { return true }
        // Only the bit of the case differs, and only in bytes that are letters.
        guard difference & ~(0x20 &* ones) == 0 else { return false }
        return (difference << 2) & ~(letters(one & ~tops) & ~one) == 0
    }

    @inline(__always)
    private static func letters(_ low: UInt64) -> UInt64 {
        hits(low | 0x20 &* ones, in: UInt8(ascii: "a")...UInt8(ascii: "z"))
    }

    /// The offset of the first byte at or after `start` that is not in `set`; `count` if there is
    /// none.
    @inline(__always)
    package func first(notIn set: ByteSet, from start: Int) -> Int {
        var index = start
        while index < count, set.contains(self[index]) { index &+= 1 }
        return index
    }

    /// Whether the eight bytes from `offset` on equal `word`.
    @inline(__always)
    func hasWord(_ expected: UInt64, at offset: Int) -> Bool {
        word(at: offset) == expected
    }

    /// The offset of the first LF at or after `start`.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        firstInBlocks(ASCII.lineFeed, from: start)
    }

    /// The offset of the first `byte` at or after `start`. For heads; in shorter texts, such as the
    /// segments of a path, `firstOffset` is as fast.
    @inline(__always)
    func firstInBlocks(_ byte: UInt8, from start: Int) -> Int? {
        let index = unsafe end(from: start, of: byte, tributary_first_byte)
        return index < count ? index : nil
    }
}
