package import Basics

/// The inside of a string as it was written, escapes and all, without its quotes.
package struct JSONString: Sendable {
    /// The bytes between the quotes.
    package let raw: Bytes

    /// The caller knows that the bytes are the inside of a string.
    init(known raw: Bytes) { self.raw = raw }

    /// What the string means, as UTF-8. Shares the memory of `raw` where nothing is escaped.
    package var unescaped: Bytes {
        raw.span.hasEscape ? Bytes(raw.span.unescaped) : raw
    }

    /// Whether the string means these bytes, however it is written. Allocates nothing.
    package func means(_ plain: Bytes) -> Bool { raw.span.means(plain.span) }
}

/// The insides of valid strings.
extension Span<UInt8> {
    var hasEscape: Bool {
        for offset in 0..<count where self[offset] == .backslash { return true }
        return false
    }

    /// What this means, copied.
    var unescaped: [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(count)
        var rest = Unescaper(self)
        while let byte = rest.next() { plain.append(byte) }
        return plain
    }

    /// Whether this, unescaped, is `plain`.
    @inline(__always)
    func means(_ plain: Span<UInt8>) -> Bool {
        // An escape is longer than what it means, so equal lengths mean equal bytes or nothing.
        if count < plain.count { return false }
        return count == plain.count ? isWritten(plain) : meansEscaped(plain)
    }

    @inline(__always)
    private func isWritten(_ plain: Span<UInt8>) -> Bool {
        for offset in 0..<count {
            guard self[offset] == plain[offset], self[offset] != .backslash else { return false }
        }
        return true
    }

    @inline(never)
    private func meansEscaped(_ plain: Span<UInt8>) -> Bool {
        var rest = Unescaper(self)
        for offset in 0..<plain.count {
            guard rest.next() == plain[offset] else { return false }
        }
        return rest.next() == nil
    }
}
