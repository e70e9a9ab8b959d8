package import Basics
import CByteClasses

/// Sixteen hexadecimal digits as the bytes of two words, the first one lowest.
private func hexDigits(of value: UInt64) -> (first: UInt64, second: UInt64) {
    let digits = tributary_hex_digits(value)
    return (UInt64(littleEndian: digits.first), UInt64(littleEndian: digits.second))
}

extension [UInt8] {
    /// Appends sixteen hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        let digits = hexDigits(of: value)
        append(text: digits.first)
        append(text: digits.second)
    }
}

extension TextBuffer {
    /// Appends sixteen hexadecimal digits.
    package mutating func append(hex value: UInt64) {
        let digits = hexDigits(of: value)
        append(text: digits.first, digits.second)
    }
}
