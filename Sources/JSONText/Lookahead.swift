/// Reads that may reach over the end: what is not there reads as zero, which no JSON text may hold.
///
/// Every read is total, so the code that stands on them needs no bounds of its own; this is the only
/// place of the module that loads memory without the checks of `Span`.
extension Span<UInt8> {
    /// The byte at `offset`, or zero behind the end.
    @inline(__always)
    func peek(_ offset: Int) -> UInt8 {
        offset < count ? self[offset] : 0
    }

    /// The eight bytes from `offset` on, the first in the lowest place.
    @inline(__always)
    func word(_ offset: Int) -> UInt64 {
        guard offset >= 0, offset <= count &- 8 else { return wordAtEnd(offset) }
        // Inside of the bounds by the line above, and every pattern of bits is a UInt64.
        return unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    @inline(never)
    private func wordAtEnd(_ offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for place in 0..<8 where offset >= 0 && offset < count - place {
            word |= UInt64(self[offset + place]) << UInt64(8 * place)
        }
        return word
    }
}

/// Eight bytes in one register. Each search marks the *first* match exactly with the high bit of its
/// byte; marks above it may be false, for a subtraction borrows upwards only.
enum Word {
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    static var highs: UInt64 { 0x8080_8080_8080_8080 }

    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* ones }

    /// Quote, backslash, control and non-ASCII: what ends a run of plain bytes in a string.
    @inline(__always)
    static func notPlain(_ word: UInt64) -> UInt64 {
        let quote = (word ^ all(.quote)) &- ones
        let backslash = (word ^ all(.backslash)) &- ones
        let control = word &- all(.space)
        return (quote | backslash | control | word) & highs
    }

    /// Quote and backslash.
    @inline(__always)
    static func quoteOrBackslash(_ word: UInt64) -> UInt64 {
        let quote = (word ^ all(.quote)) &- ones
        let backslash = (word ^ all(.backslash)) &- ones
        return (quote | backslash) & ~word & highs
    }

    /// Quote and the four brackets: what matters outside of strings to find the end of a container.
    @inline(__always)
    static func quoteOrBracket(_ word: UInt64) -> UInt64 {
        let folded = word | all(0x20)
        let quote = (word ^ all(.quote)) &- ones
        let open = (folded ^ all(.openBrace)) &- ones
        let close = (folded ^ all(.closeBrace)) &- ones
        return (quote | open | close) & ~word & highs
    }

    /// Everything but `0` to `9`.
    @inline(__always)
    static func notDigit(_ word: UInt64) -> UInt64 {
        let value = word ^ all(.zero)
        return ((value &+ all(0x76)) | value) & highs
    }

    /// How many bytes stand before the first mark; eight where there is none.
    @inline(__always)
    static func bytesBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount >> 3 }
}
