package import Basics

/// The inside of a string as it was written, with its escapes, without its quotes.
package struct JSONString: Sendable {
    /// The bytes between the quotes.
    package let raw: Bytes

    /// The caller knows that the bytes are the inside of a string.
    init(known raw: Bytes) { self.raw = raw }

    /// The unescaped string, as UTF-8. Shares the memory of `raw` if nothing is escaped.
    package var unescaped: Bytes {
        raw.span.hasEscape ? Bytes(raw.span.unescaped) : raw
    }

    /// Whether the unescaped string equals these bytes. Allocates nothing.
    package func means(_ plain: Bytes) -> Bool { raw.span.means(plain.span) }
}

/// Unescaping and comparing the insides of valid strings.
extension Span<UInt8> {
    var hasEscape: Bool {
        for offset in 0..<count where self[offset] == .backslash { return true }
        return false
    }

    /// An unescaped copy.
    var unescaped: [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(count)
        var rest = Unescaper(self)
        while let byte = rest.next() { plain.append(byte) }
        return plain
    }

    /// Whether this, unescaped, equals `plain`.
    func means(_ plain: Span<UInt8>) -> Bool {
        // An escape is longer than its character.
        guard count >= plain.count else { return false }
        guard hasEscape else { return isSame(plain) }
        var rest = Unescaper(self)
        for offset in 0..<plain.count {
            guard rest.next() == plain[offset] else { return false }
        }
        return rest.next() == nil
    }

    /// The same bytes.
    func isSame(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for offset in 0..<count where self[offset] != other[offset] { return false }
        return true
    }
}
