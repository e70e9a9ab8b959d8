package import Basics

/// Eight hexadecimal digits as the bytes of a word, the first one lowest.
private func hexDigits(of value: UInt32) -> UInt64 {
    // Each nibble gets a byte of its own; those above nine are then increased by the distance from
    // the digits to the letters.
    var nibbles = UInt64(value)
    nibbles = (nibbles << 16 | nibbles) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    let distance = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* distance).byteSwapped
}

extension [UInt8] {
    /// Appends sixteen hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        append(text: hexDigits(of: UInt32(truncatingIfNeeded: value >> 32)))
        append(text: hexDigits(of: UInt32(truncatingIfNeeded: value)))
    }
}

extension TextBuffer {
    /// Appends sixteen hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        append(
            text: hexDigits(of: UInt32(truncatingIfNeeded: value >> 32)),
            hexDigits(of: UInt32(truncatingIfNeeded: value)))
    }
}
