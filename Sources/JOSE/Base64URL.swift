/// Base64url without padding (RFC 4648 section 5, RFC 7515 section 2).
///
/// Strict, so that every byte string has exactly one text: of two texts with the same meaning, an
/// attacker could use the second one where the first one is known.
package enum Base64URL {
    /// The decoded bytes; nil if the text has padding or any other byte outside of the alphabet, a
    /// length that no encoding has, or spare bits that are not zero.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let rest = text.count & 3
        guard rest != 1 else { return nil }
        let values = values.span
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        // Every value has six bits; the two upper ones mark a byte outside of the alphabet.
        var marks: UInt8 = 0
        var at = 0
        while at &+ 4 <= text.count {
            let first = values[Int(text[at])]
            let second = values[Int(text[at &+ 1])]
            let third = values[Int(text[at &+ 2])]
            let fourth = values[Int(text[at &+ 3])]
            marks |= first | second | third | fourth
            bytes.append(first << 2 | second >> 4)
            bytes.append(second << 4 | third >> 2)
            bytes.append(third << 6 | fourth)
            at &+= 4
        }
        if rest > 0 {
            let first = values[Int(text[at])]
            let second = values[Int(text[at &+ 1])]
            let third = rest == 3 ? values[Int(text[at &+ 2])] : 0
            marks |= first | second | third
            bytes.append(first << 2 | second >> 4)
            if rest == 3 { bytes.append(second << 4 | third >> 2) }
            let spare = rest == 2 ? second & 0x0F : third & 0x03
            guard spare == 0 else { return nil }
        }
        return marks & outside == 0 ? bytes : nil
    }

    /// The text of some bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Not a value of six bits.
    private static let outside: UInt8 = 0xC0

    /// The value of every byte; `outside` if it has none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: outside, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()
}
