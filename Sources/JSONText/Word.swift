/// Operations on eight bytes in one register, the first in the lowest byte.
///
/// Searches mark bytes in their high bits. Unless documented as exact, only the *first* mark is
/// always a match; later marks may be false, because a subtraction borrows upwards.
enum Word {
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// The bytes between members of compact text: `":` and `,"`.
    static var quoteColon: UInt16 { 0x3A22 }
    static var commaQuote: UInt16 { 0x222C }

    static var `true`: UInt32 { 0x6575_7274 }
    static var null: UInt32 { 0x6C6C_756E }
    static var `false`: UInt64 { 0x65_736C_6166 }

    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* ones }

    /// Marks quotes and backslashes.
    @inline(__always)
    static func quoteOrBackslash(_ word: UInt64) -> UInt64 {
        let quote = (word ^ all(.quote)) &- ones
        let backslash = (word ^ all(.backslash)) &- ones
        return (quote | backslash) & ~word & highs
    }

    /// Marks everything but spaces, in any bit of the byte.
    @inline(__always)
    static func notBlank(_ word: UInt64) -> UInt64 { word ^ all(.space) }

    /// Marks exactly the bytes that are not `byte`, which must be ASCII.
    @inline(__always)
    static func isNot(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        (((word ^ all(byte)) | highs) &- ones) | word
    }

    /// The high bits of the eight bytes, side by side.
    @inline(__always)
    static func gathered(_ marks: UInt64) -> UInt64 {
        (((marks &>> 7) & ones) &* 0x0102_0408_1020_4080) &>> 56
    }

    /// How many bytes precede the first mark; eight if there is none.
    @inline(__always)
    static func bytesBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }
}
