/// The positions of the parts of a request target, found and checked in one pass.
struct TargetLayout {
    let form: Target.Form
    /// Counted from the start of the target.
    let path: Range<Int>

    /// Reads the target that is this range of the text. Nil if it has none of the forms of RFC 9112 3.2
    /// that name a resource. The authority form belongs to CONNECT, which has no meaning here.
    @inline(__always)
    init?(_ text: Span<UInt8>, in range: Range<Int>) {
        guard !range.isEmpty else { return nil }
        var start = range.lowerBound
        if text[start] == ASCII.slash {
            form = .origin
        } else if range.count == 1, text[start] == UInt8(ascii: "*") {
            form = .asterisk
            path = 0..<1
            return
        } else {
            guard let authorityEnd = Self.endOfAuthority(text.extracting(range)) else { return nil }
            form = .absolute
            start &+= authorityEnd
        }
        guard let end = Self.endOfPath(text, start..<range.upperBound),
            Self.isQuery(text, end..<range.upperBound)
        else {
            return nil
        }
        path = (start &- range.lowerBound)..<(end &- range.lowerBound)
    }

    /// The offset of the `?`, or the end of the range; nil for a byte that is invalid in a path or a
    /// malformed escape.
    @inline(__always)
    private static func endOfPath(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        let end = min(text.endOfPlainPath(from: range.lowerBound), range.upperBound)
        guard end < range.upperBound, text[end] != ASCII.question else { return end }
        return endOfEscapedPath(text, end..<range.upperBound)
    }

    /// The same from the first escape on.
    private static func endOfEscapedPath(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound, text[index] != ASCII.question {
            guard text[index] == ASCII.percent,
                text.extracting(index..<range.upperBound).isEscape(at: 0)
            else { return nil }
            index = min(text.endOfPlainPath(from: index &+ 3), range.upperBound)
        }
        return index
    }

    /// Whether this range is empty, or a query with its `?`. A query may contain malformed escapes:
    /// clients send them, and only its reader interprets them.
    private static func isQuery(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.isEmpty || text.endOfQuery(from: range.lowerBound) >= range.upperBound
    }

    /// The offset behind `http://host:port`; nil if the text does not begin like this.
    private static func endOfAuthority(_ text: Span<UInt8>) -> Int? {
        guard let colon = text.firstOffset(of: ASCII.colon), colon + 3 <= text.count else {
            return nil
        }
        let scheme = text.extracting(0..<colon)
        guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https"),
            text.extracting(colon..<(colon + 3)).equals("://")
        else { return nil }
        let start = colon + 3
        var end = start
        while end < text.count, text[end] != ASCII.slash, text[end] != ASCII.question { end += 1 }
        let authority = text.extracting(start..<end)
        return !authority.isEmpty && Authority.isValid(authority) ? end : nil
    }
}

/// The rules for host and port, in a `Host` field and in an absolute target.
package enum Authority {
    /// `host`, `host:port`, `[v6]` or `[v6]:port` (RFC 9110 7.2), without user information, list or
    /// path, and with a valid port. A port requires a host.
    package static func isValid(_ text: Span<UInt8>) -> Bool {
        isValid(text, 0..<text.count)
    }

    /// The same for a range of a text.
    static func isValid(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard let end = endOfHost(text, range) else { return false }
        if end == range.upperBound { return true }
        return end > range.lowerBound && text[end] == ASCII.colon
            && isPort(text.extracting((end &+ 1)..<range.upperBound))
    }

    @inline(__always)
    private static func endOfHost(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        let end = min(text.skipCommonBytes(from: range.lowerBound), range.upperBound)
        guard end < range.upperBound, text[end] != ASCII.colon else { return end }
        return endOfUnusualHost(text.extracting(range)).map { range.lowerBound &+ $0 }
    }

    /// A host with other bytes than letters, digits, `-` and `.`.
    private static func endOfUnusualHost(_ text: Span<UInt8>) -> Int? {
        if text[0] == UInt8(ascii: "[") { return endOfLiteral(text) }
        var index = 0
        while true {
            index = text.skipCommonBytes(from: index)
            guard index < text.count, text[index] != ASCII.colon else { return index }
            if text[index] == ASCII.percent {
                guard text.isEscape(at: index) else { return nil }
                index += 3
            } else {
                guard ByteSet.registeredName.contains(text[index]) else { return nil }
                index += 1
            }
        }
    }

    /// An IP literal: digits, colons and dots between brackets. Not checked further, since no
    /// connection is made to it.
    private static func endOfLiteral(_ text: Span<UInt8>) -> Int? {
        var index = 1
        while index < text.count, text[index] != UInt8(ascii: "]") {
            let byte = text[index]
            guard ASCII.hexValue(byte) != nil || byte == ASCII.colon || byte == UInt8(ascii: ".")
            else {
                return nil
            }
            index += 1
        }
        return index < text.count && index > 2 ? index + 1 : nil
    }

    /// RFC 3986 3.2.3: digits, perhaps none; at most 65535.
    private static func isPort(_ digits: Span<UInt8>) -> Bool {
        var port = 0
        for index in digits.indices {
            let digit = digits[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return false }
            port = port * 10 + Int(digit)
            guard port <= 65535 else { return false }
        }
        return true
    }
}

extension Span<UInt8> {
    /// Whether two hexadecimal digits follow the `%` at the offset.
    fileprivate func isEscape(at offset: Int) -> Bool {
        offset + 2 < count && ASCII.hexValue(self[offset + 1]) != nil
            && ASCII.hexValue(self[offset + 2]) != nil
    }
}
