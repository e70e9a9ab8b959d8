/// A set of ASCII bytes as two words, so that membership is a shift and no memory is read.
package struct ByteSet {
    /// Bytes 0 to 63, one bit each.
    private let low: UInt64
    /// Bytes 64 to 127, one bit each.
    private let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : high
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }
}

extension ByteSet {
    /// RFC 9110 5.6.2: what methods and field names consist of.
    package static var token: ByteSet {
        ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// RFC 3986 2.3: what never needs an escape.
    static var unreserved: ByteSet {
        ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    /// What a request target may hold: visible ASCII without `"`, `#`, `<`, `>` and `\`.
    ///
    /// Wider than RFC 3986 by the bytes that browsers leave bare (`[`, `]`, `|`, `^`, `{`, `}` and
    /// the back quote). They are data to us, and escaped wherever we send them on.
    static var target: ByteSet { ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_EFFF_FFFF) }
}

/// The bytes that steer the wire.
enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let colon = UInt8(ascii: ":")
    static let semicolon = UInt8(ascii: ";")
    static let percent = UInt8(ascii: "%")
    static let slash = UInt8(ascii: "/")
    static let question = UInt8(ascii: "?")
    static let delete: UInt8 = 0x7F

    /// OWS, RFC 9110 5.6.3.
    @inline(__always)
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    /// The value of a hexadecimal digit.
    @inline(__always)
    static func hexValue(_ digit: UInt8) -> UInt8? {
        let decimal = digit &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// RFC 9110 5.5: a byte that must not stand in a field value. The tab may.
    @inline(__always)
    static func isForbiddenInValue(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != tab) || byte == delete
    }
}
