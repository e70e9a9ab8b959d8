/// The syntax of addresses, hosts and paths (RFC 3986), as far as a configuration contains them.
package enum URLSyntax {
    /// Bytes of a path and a query: `pchar`, `/` and `?`, and whole `%XX`. No fragment.
    package static func check(pathAndQuery text: String) throws(Refusal) {
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy(isHexDigit) else {
                    throw Refusal(
                        "has a '%' without two hexadecimal digits after it; write %25 for a literal %"
                    )
                }
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "#") {
                throw Refusal("must not have a fragment (#...); write %23 for a literal #")
            } else if !isPathByte(byte) {
                let sign = String(UnicodeScalar(byte < 0x80 ? byte : 0x3F))
                throw Refusal(
                    byte < 0x80
                        ? "must percent-encode '\(sign)'"
                        : "must percent-encode non-ASCII characters")
            }
        }
    }

    /// The host of `host`, `1.2.3.4` or `[::1]`, without brackets.
    static func host(_ text: Substring) throws(Refusal) -> String {
        if text.hasPrefix("[") {
            guard text.hasSuffix("]"), isIPv6(text.dropFirst().dropLast()) else {
                throw Refusal("has no valid IPv6 address between [ and ]")
            }
            return String(text.dropFirst().dropLast())
        }
        guard !text.contains("//") else {
            throw Refusal("must be a host and a port without a scheme, such as 127.0.0.1:8080")
        }
        guard !text.contains(":") else {
            throw Refusal("must have its IPv6 address in brackets: \"[::1]:8080\"")
        }
        let looksLikeIPv4 = text.allSatisfy { $0 == "." || $0.isWholeNumber }
        guard looksLikeIPv4 ? isIPv4(text) : isName(text) else {
            throw Refusal("has no valid host: '\(text)' is neither an address nor a name")
        }
        return String(text)
    }

    /// The same for a host that is looked up, whose name may end with a dot: an absolute name, to
    /// which a resolver appends no search domain.
    static func backendHost(_ text: Substring) throws(Refusal) -> String {
        guard text.hasSuffix("."), isName(text.dropLast()), !isIPv4(text.dropLast()) else {
            return try host(text)
        }
        return String(text)
    }

    static func port(_ text: Substring, allowsZero: Bool) throws(Refusal) -> UInt16 {
        guard let port = decimal(text, max: 65535), allowsZero || port > 0 else {
            throw Refusal(
                "has no valid port (\(fixed: allowsZero ? 0 : 1) to 65535): '\(text)'"
            )
        }
        return UInt16(port)
    }

    /// Splits `host:port` at the colon outside of brackets; nil without a port.
    static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        guard let colon = authority.lastIndex(of: ":"),
            !authority[colon...].contains("]")
        else { return (authority, nil) }
        return (authority[..<colon], authority[colon...].dropFirst())
    }

    /// RFC 1123, and underscores, which names in container networks may have.
    private static func isName(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-")
                    && !label.hasSuffix("-")
                    && label.utf8.allSatisfy { isAlphanumeric($0) || "-_".utf8.contains($0) }
            }
    }

    static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { decimal($0, max: 255) != nil }
    }

    /// RFC 4291, section 2.2.
    static func isIPv6(_ text: Substring) -> Bool {
        var groups = text.split(separator: ":", omittingEmptySubsequences: false)
        var missing = 8
        if let last = groups.last, last.contains(".") {
            guard isIPv4(last) else { return false }
            groups.removeLast()
            missing -= 2
        }
        missing -= groups.count { !$0.isEmpty }
        let isHex = groups.allSatisfy { $0.utf8.count <= 4 && $0.utf8.allSatisfy(isHexDigit) }
        let gaps = text.indices.count { text[$0...].hasPrefix("::") }
        let edges =
            (text.hasPrefix(":") && !text.hasPrefix("::"))
            || (text.hasSuffix(":") && !text.hasSuffix("::"))
        return isHex && !edges && (gaps == 0 ? missing == 0 : gaps == 1 && missing >= 1)
    }

    /// Digits only, without a leading zero.
    private static func decimal(_ text: Substring, max: Int) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy(isDigit),
            text == "0" || !text.hasPrefix("0"), let value = Int(text), value <= max
        else { return nil }
        return value
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

extension String {
    /// Whether this host name or address means the local machine.
    var isLoopbackHost: Bool {
        self == "::1" || lowercased() == "localhost"
            || hasPrefix("127.") && allSatisfy { $0 == "." || $0.isWholeNumber }
    }
}
