/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
package enum Base64 {
    /// The bytes; nil unless the text is their only spelling: complete padding, no other characters,
    /// and spare bits that are zero.
    package static func bytes(_ text: Bytes) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = paddingLength(of: text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        for index in 0..<(text.count - padding) {
            guard let value = value(text[index]) else { return nil }
            bits = bits << 6 | UInt32(value)
            if index % 4 == 3 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits = 0
            }
        }
        // Two characters have 12 bits, of which 8 count; three have 18, of which 16 count.
        switch padding {
        case 2:
            guard bits & 0xF == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 1:
            guard bits & 0x3 == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: break
        }
        return bytes
    }

    private static func paddingLength(of text: Bytes) -> Int {
        let equals = UInt8(ascii: "=")
        guard let last = text.isEmpty ? nil : text.count - 1, text[last] == equals else { return 0 }
        return text[last - 1] == equals ? 2 : 1
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    fileprivate static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

extension [UInt8] {
    /// Appends the Base64 text of the bytes, with padding.
    package mutating func append(base64 bytes: Span<UInt8>) {
        let alphabet = Base64.alphabet
        func digit(_ bits: UInt32, _ index: UInt32) -> UInt8 {
            alphabet[Int(bits >> (18 - 6 * index) & 0x3F)]
        }
        var position = 0
        while position < bytes.count {
            let count = Swift.min(3, bytes.count - position)
            var bits = UInt32(bytes[position]) << 16
            if count > 1 { bits |= UInt32(bytes[position + 1]) << 8 }
            if count > 2 { bits |= UInt32(bytes[position + 2]) }
            append(digit(bits, 0))
            append(digit(bits, 1))
            append(count > 1 ? digit(bits, 2) : UInt8(ascii: "="))
            append(count > 2 ? digit(bits, 3) : UInt8(ascii: "="))
            position += 3
        }
    }
}
