/// Scans eight bytes per step. A hit is marked by the top bit of its byte in a word; the lowest
/// byte is the first.
extension Span<UInt8> {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// The eight bytes from `offset` on; `RawSpan` checks the bounds.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Unsafe only for types with invalid bit patterns, which an integer does not have.
        unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The bytes of `word` that equal `byte`. Exact for the lowest hit; higher hits may be false,
    /// because a borrow propagates upwards.
    @inline(__always)
    private static func hits(_ word: UInt64, equal byte: UInt8) -> UInt64 {
        let difference = word ^ (UInt64(byte) &* ones)
        return (difference &- ones) & ~difference & tops
    }

    /// The bytes of `word` within `range`; exact for each if no byte has its top bit set.
    @inline(__always)
    private static func hits(_ word: UInt64, in range: ClosedRange<UInt8>) -> UInt64 {
        let reachesLow = word &+ UInt64(0x80 &- range.lowerBound) &* ones
        let passesHigh = word &+ UInt64(0x7F &- range.upperBound) &* ones
        return reachesLow & ~passesHigh & tops
    }

    /// The offset of the first byte at or after `start` that is invalid in a field value; `count`
    /// if there is none. This also finds the end of a line.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index)
            let below = (word &- 0x20 &* Self.ones) & ~word & Self.tops
            let hits = below | Self.hits(word, equal: ASCII.delete)
            if hits == 0 {
                index &+= 8
                continue
            }
            index &+= hits.trailingZeroBitCount >> 3
            if self[index] != ASCII.tab { return index }
            index &+= 1
        }
        while index < count, !ASCII.isForbiddenInValue(self[index]) { index &+= 1 }
        return index
    }

    /// Skips letters, digits, `-` and `.`, the usual bytes of names and hosts. The byte at the
    /// result is another one, or one of the last seven; the caller checks it.
    @inline(__always)
    func skipCommonBytes(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index)
            let low = word & ~Self.tops
            let marks = Self.hits(low, in: UInt8(ascii: "-")...UInt8(ascii: "."))
            let digits = Self.hits(low, in: UInt8(ascii: "0")...UInt8(ascii: "9"))
            let rest = ((Self.letters(low) | marks | digits) & ~word) ^ Self.tops
            if rest != 0 { return index &+ rest.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        return index
    }

    /// The same, including the slashes of a path.
    @inline(__always)
    func skipCommonPathBytes(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index)
            let low = word & ~Self.tops
            let others = Self.hits(low, in: UInt8(ascii: "-")...UInt8(ascii: "9"))
            let rest = ((Self.letters(low) | others) & ~word) ^ Self.tops
            if rest != 0 { return index &+ rest.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        return index
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

    /// Whether the eight bytes from `offset` on are those of `word`.
    @inline(__always)
    func hasWord(_ expected: UInt64, at offset: Int) -> Bool {
        word(at: offset) == expected
    }

    /// The offset of the first LF at or after `start`.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        var index = start
        while index &+ 8 <= count {
            let hits = Self.hits(word(at: index), equal: ASCII.lineFeed)
            if hits != 0 { return index &+ hits.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        while index < count {
            if self[index] == ASCII.lineFeed { return index }
            index &+= 1
        }
        return nil
    }
}
