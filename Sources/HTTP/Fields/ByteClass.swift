/// A set of ASCII bytes as two words, so that a test is a shift without a memory access.
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
    /// RFC 9110 5.6.2: the bytes of methods and field names.
    package static var token: ByteSet {
        ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// RFC 3986 2.3: bytes that never need an escape.
    static var unreserved: ByteSet {
        ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    /// The bytes of the path of a request target: visible ASCII without `"`, `#`, `<`, `>` and `\`.
    ///
    /// More than RFC 3986 allows: browsers do not escape `[`, `]`, `|`, `^`, `{`, `}` and the back
    /// quote. The gateway treats them as data and escapes them in requests to backends.
    static var target: ByteSet { ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_EFFF_FFFF) }

    /// The bytes of a query: the bytes of a path, and `\`, which browsers do not escape there (URL
    /// standard, special-query percent-encode set).
    static var query: ByteSet { ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF) }

    /// RFC 3986 3.2.2: the bytes of a name that are not escaped, `unreserved` and `sub-delims`.
    static var registeredName: ByteSet {
        ByteSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    /// ASCII without `.`, `%`, `\` and the zero byte: without these, no path is harmful
    /// (`PathReading`).
    package static var plainPath: ByteSet {
        ByteSet(low: 0xFFFF_BFDF_FFFF_FFFE, high: 0xFFFF_FFFF_EFFF_FFFF)
    }
}

/// The bytes of HTTP's syntax.
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

    /// RFC 9110 5.5: a byte that is invalid in a field value. The tab is valid.
    @inline(__always)
    static func isForbiddenInValue(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != tab) || byte == delete
    }
}
