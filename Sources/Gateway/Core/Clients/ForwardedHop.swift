import Basics
import HTTP
import Reactor

/// Parses the address of one hop in a forwarding header.
enum ForwardedHop {
    /// An entry of `X-Forwarded-For`: `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]`, with or
    /// without a port; an IPv6 address with a port needs brackets. Nil for anything else.
    static func address(inForwardedFor entry: Bytes) -> IPAddress? {
        guard let text = text(entry) else { return nil }
        if !text.hasPrefix("["), let address = IPAddress(text) { return address.unmapped }
        return node(text)
    }

    /// A node of RFC 7239 section 6: `192.0.2.1` or `[2001:db8::1]`, with or without a port, which
    /// may be obfuscated. Nil for `unknown`, obfuscated names and anything else.
    static func address(inNode entry: Bytes) -> IPAddress? {
        text(entry).flatMap { node($0, mayObfuscatePort: true) }
    }

    /// Longer than any address with a port.
    private static let bytesMax = 128

    private static func text(_ entry: Bytes) -> String? {
        (1...bytesMax).contains(entry.count) ? String(entry) : nil
    }

    private static func node(_ text: String, mayObfuscatePort: Bool = false) -> IPAddress? {
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<close]
            rest = text[text.index(after: close)...]
        } else {
            host = text.prefix { $0 != ":" }
            rest = text.dropFirst(host.count)
        }
        guard let address = IPAddress(String(host)) else { return nil }
        guard rest.isEmpty || isPort(rest, mayObfuscate: mayObfuscatePort) else { return nil }
        // Brackets are for IPv6 only, and required there.
        let isVersion6 = if case .v6 = address { true } else { false }
        return isVersion6 == text.hasPrefix("[") ? address.unmapped : nil
    }

    /// `:443`, or `:_hidden` (RFC 7239 section 6.3).
    private static func isPort(_ text: Substring, mayObfuscate: Bool) -> Bool {
        guard text.hasPrefix(":") else { return false }
        let port = text.dropFirst().utf8
        if mayObfuscate, port.first == UInt8(ascii: "_") {
            return port.count > 1 && port.dropFirst().allSatisfy(isObfuscatedByte)
        }
        guard (1...5).contains(port.count), port.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return false
        }
        return UInt16(String(text.dropFirst())) != nil
    }

    private static func isObfuscatedByte(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80
            || (0x30...0x39).contains(byte) || "._-".utf8.contains(byte)
    }
}

/// The entries of a comma-separated header from the right, over all its lines; empty ones are
/// skipped (RFC 9110 section 5.6.1).
struct ReversedEntries: Sequence, IteratorProtocol {
    private var lines: ArraySlice<Bytes>
    /// The unread rest of the last line.
    private var rest = Bytes()

    /// - Parameter lines: the values in the order of the request
    init(_ lines: [Bytes]) {
        self.lines = lines[...]
    }

    mutating func next() -> Bytes? {
        while true {
            while rest.isEmpty {
                guard let line = lines.popLast() else { return nil }
                rest = line
            }
            var start = rest.count
            while start > 0, rest[start - 1] != UInt8(ascii: ",") { start -= 1 }
            let entry = rest[start..<rest.count].trimmed
            rest = rest[0..<Swift.max(0, start - 1)]
            if !entry.isEmpty { return entry }
        }
    }
}
