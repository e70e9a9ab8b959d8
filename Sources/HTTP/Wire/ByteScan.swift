/// Looks at eight bytes in a step. The lowest hit of each test is exact; hits above it may be false
/// (a borrow runs upwards), which is why only the lowest is used.
extension Span<UInt8> {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// Eight bytes from `offset` on, the first one lowest; the caller saw that they are there.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Checked against the bounds by `RawSpan`; "unsafe" speaks of types with invalid bit patterns.
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The offset of the first byte at or after `start` that no field value may hold; `count` if
    /// there is none. That is also how the end of a line is found.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index)
            let deleted = word ^ (0x7F &* Self.ones)
            let below = (word &- 0x20 &* Self.ones) & ~word
            let hits = (below | ((deleted &- Self.ones) & ~deleted)) & Self.tops
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

    /// The offset of the first LF at or after `start`.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index) ^ (UInt64(ASCII.lineFeed) &* Self.ones)
            let hits = (word &- Self.ones) & ~word & Self.tops
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
