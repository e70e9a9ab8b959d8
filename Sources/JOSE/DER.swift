import Basics

/// Writes the few structures of ASN.1 (DER) that OpenSSL reads keys and signatures from.
enum DER {
    /// An integer that is not negative, from its bytes, the most significant one first.
    static func integer(_ bytes: Span<UInt8>) -> [UInt8] {
        var start = 0
        while start < bytes.count - 1 && bytes[start] == 0 { start += 1 }
        let digits = bytes.extracting(start..<bytes.count)
        var content: [UInt8] = []
        content.reserveCapacity(digits.count + 1)
        // A set sign bit would make the integer negative.
        if digits.isEmpty || digits[0] >= 0x80 { content.append(0) }
        content.append(copying: digits)
        return element(0x02, content)
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] {
        element(0x30, Array(parts.joined()))
    }

    /// A bit string of whole bytes.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var element = [tag]
        if content.count < 0x80 {
            element.append(UInt8(content.count))
        } else {
            let width = (content.count.bitWidth - content.count.leadingZeroBitCount + 7) / 8
            element.append(0x80 | UInt8(width))
            for index in (0..<width).reversed() {
                element.append(UInt8(truncatingIfNeeded: content.count >> (8 * index)))
            }
        }
        return element + content
    }
}
