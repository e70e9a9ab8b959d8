/// The fields of a head that concern framing and connection, collected in one pass and evaluated
/// later by `BodyFraming` and by the parser of the head. Also whether there are fields that every
/// reader of a response needs.
struct ControlFields {
    private(set) var lengthCount = 0
    /// The value of `Content-Length`, if there is exactly one.
    private(set) var length = 0
    private(set) var codingCount = 0
    private(set) var hostCount = 0
    private(set) var isChunked = false
    private(set) var isHostValid = false
    /// The options `close` and `keep-alive` of `Connection`.
    private(set) var saysClose = false
    private(set) var saysKeepAlive = false
    private(set) var expectsContinue = false
    private(set) var hasUnknownExpectation = false
    private(set) var hasVia = false
    /// The content has a coding, or a cache must not store it for everyone.
    private(set) var restrictsUse = false

    /// Whether the name of a field may be one of those that `read` uses, by its length and its first
    /// byte.
    @inline(__always)
    static func mayInclude(nameOf length: Int, first: UInt8) -> Bool {
        // One bit for each length and for each letter.
        let lengths: UInt64 =
            1 << 17 | 1 << 16 | 1 << 14 | 1 << 13 | 1 << 10 | 1 << 6 | 1 << 3 | 1 << 4
        let letters: UInt64 = 1 << 22 | 1 << 20 | 1 << 8 | 1 << 5 | 1 << 3
        return lengths &>> UInt64(truncatingIfNeeded: length) & letters &>> UInt64(first & 31) & 1
            == 1
    }

    /// Reads the field with this name and value.
    @inline(__always)
    mutating func read(
        _ bytes: Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>
    ) throws(WireError) {
        let text = bytes.extracting(value)
        let name = bytes.extracting(name)
        switch name.count {
        case 3 where name.equalsIgnoringCase("via"): hasVia = true
        case 4 where name.isToken("host"):
            hostCount += 1
            isHostValid = Authority.isValid(bytes, value)
        case 6 where name.isToken("expect"): readExpectation(text)
        case 10 where name.isToken("connection"): readConnection(text)
        case 13 where name.isToken("cache-control"):
            if StoringLimits(reading: text).rawValue != 0 { restrictsUse = true }
        case 14 where name.isToken("content-length"): try readLength(text)
        case 16 where name.isToken("content-encoding"):
            if !text.isEmpty, !text.equalsIgnoringCase("identity") { restrictsUse = true }
        case 17 where name.isToken("transfer-encoding"): readCoding(text)
        default: break
        }
    }

    private mutating func readExpectation(_ value: Span<UInt8>) {
        if value.equalsIgnoringCase("100-continue") {
            expectsContinue = true
        } else {
            hasUnknownExpectation = true
        }
    }

    /// RFC 9110 7.6.1: a list of tokens, possibly over several fields. Unknown options are ignored.
    private mutating func readConnection(_ value: Span<UInt8>) {
        if value.equals("keep-alive") {
            saysKeepAlive = true
            return
        }
        var start = 0
        while start < value.count {
            let end = value.firstOffset(of: UInt8(ascii: ","), from: start) ?? value.count
            let option = value.extracting(start..<end).trimmed
            if option.equalsIgnoringCase("close") { saysClose = true }
            if option.equalsIgnoringCase("keep-alive") { saysKeepAlive = true }
            start = end + 1
        }
    }

    /// Digits and nothing else. A list of equal numbers would be allowed (RFC 9110 8.6) but is
    /// rejected: it is not used in practice, and a parser that reads it differently enables
    /// smuggling.
    private mutating func readLength(_ value: Span<UInt8>) throws(WireError) {
        // Nineteen digits hold every `Int`, and fit into 64 bits; longer runs of zeros are not
        // legitimate.
        guard (1...19).contains(value.count) else { throw .contentLength }
        var number: UInt64 = 0
        for index in value.indices {
            let digit = value[index] &- UInt8(ascii: "0")
            guard digit < 10 else { throw .contentLength }
            number = number * 10 + UInt64(digit)
        }
        guard let length = Int(exactly: number) else { throw .contentLength }
        self.length = length
        lengthCount += 1
    }

    private mutating func readCoding(_ value: Span<UInt8>) {
        codingCount += 1
        isChunked = value.equalsIgnoringCase("chunked")
    }
}
