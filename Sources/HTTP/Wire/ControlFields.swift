/// The fields of a head that concern framing and connection, collected in one pass and evaluated
/// later by `BodyFraming` and by the parser of the head.
struct ControlFields {
    private(set) var lengthCount = 0
    /// The value of `Content-Length`, if there is exactly one.
    private(set) var length = 0
    private(set) var codingCount = 0
    private(set) var isChunked = false
    private(set) var hostCount = 0
    private(set) var isHostValid = false
    /// The options `close` and `keep-alive` of `Connection`.
    private(set) var saysClose = false
    private(set) var saysKeepAlive = false
    private(set) var expectsContinue = false
    private(set) var hasUnknownExpectation = false

    /// Reads one field.
    @inline(__always)
    mutating func read(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(WireError) {
        // Length and first letter distinguish most other names from these.
        switch (name.count, name[0] | 0x20) {
        case (4, UInt8(ascii: "h")) where name.equalsIgnoringCase("Host"): readHost(value)
        case (6, UInt8(ascii: "e")) where name.equalsIgnoringCase("Expect"):
            readExpectation(value)
        case (10, UInt8(ascii: "c")) where name.equalsIgnoringCase("Connection"):
            readConnection(value)
        case (14, UInt8(ascii: "c")) where name.equalsIgnoringCase("Content-Length"):
            try readLength(value)
        case (17, UInt8(ascii: "t")) where name.equalsIgnoringCase("Transfer-Encoding"):
            readCoding(value)
        default: break
        }
    }

    private mutating func readHost(_ value: Span<UInt8>) {
        hostCount += 1
        isHostValid = Authority.isValid(value)
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
        // Nineteen digits hold every `Int`; longer runs of zeros are not legitimate.
        guard (1...19).contains(value.count) else { throw .contentLength }
        var number = 0
        for index in value.indices {
            let digit = value[index] &- UInt8(ascii: "0")
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = scaled.addingReportingOverflow(Int(digit))
            guard digit < 10, !overflow, !overflow2 else { throw .contentLength }
            number = sum
        }
        length = number
        lengthCount += 1
    }

    private mutating func readCoding(_ value: Span<UInt8>) {
        codingCount += 1
        isChunked = value.equalsIgnoringCase("chunked")
    }
}
