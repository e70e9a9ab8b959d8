package import Basics

extension Bytes {
    /// The bytes of an encoded text, decoded exactly once; nil if an escape is malformed.
    ///
    /// - Parameter plusIsSpace: true for the parts of a query, false for a path segment.
    package func percentDecoded(plusIsSpace: Bool = false) -> Bytes? {
        let encoded = span
        guard encoded.needsDecoding(plusIsSpace: plusIsSpace) else { return self }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var index = 0
        while index < encoded.count {
            switch encoded[index] {
            case ASCII.percent:
                guard index + 2 < encoded.count, let high = ASCII.hexValue(encoded[index + 1]),
                    let low = ASCII.hexValue(encoded[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            case UInt8(ascii: "+") where plusIsSpace:
                decoded.append(ASCII.space)
                index += 1
            case let byte:
                decoded.append(byte)
                index += 1
            }
        }
        return Bytes(decoded)
    }
}

extension Span<UInt8> {
    fileprivate func needsDecoding(plusIsSpace: Bool) -> Bool {
        for index in indices {
            if self[index] == ASCII.percent || (plusIsSpace && self[index] == UInt8(ascii: "+")) {
                return true
            }
        }
        return false
    }
}

extension [UInt8] {
    /// Appends a value so that it stays inside one path segment or one query value: every byte but
    /// the unreserved ones of RFC 3986 is escaped, so none can act as a delimiter. Dot segments
    /// contain nothing to escape; the caller must reject `.` and `..`.
    package mutating func append(percentEncoding value: Span<UInt8>) {
        var start = 0
        while start < value.count {
            let end = value.first(notIn: .unreserved, from: start)
            append(copying: value.extracting(start..<end))
            guard end < value.count else { return }
            append(ASCII.percent)
            append(Self.upperHexDigit(value[end] >> 4))
            append(Self.upperHexDigit(value[end] & 15))
            start = end + 1
        }
    }

    /// RFC 3986 2.1: upper case, for consistency.
    private static func upperHexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + (nibble - 10)
    }
}
