package import Basics
import HTTP

/// The name of a query parameter as lenient servers read it: equal for names that some server takes for
/// each other.
///
/// - PHP ignores blanks before a name, what follows a zero byte, and brackets at its end (`role[]`), and
///   reads `.`, a space and `[` as `_`
/// - Rack and the package qs ignore brackets before a name (`[role]`), Rack also single ones behind it
/// - ASP.NET ignores the case of letters, and decodes `%u0072`; ASP ignores a `%` that begins no escape,
///   and Windows takes full-width and overlong forms for ASCII, as in paths
package struct QueryName: Equatable, Sendable {
    private let folded: [UInt8]

    package init(decoded name: Bytes) {
        var encoded: [UInt8] = []
        encoded.append(percentEncoding: name.span)
        self.init(Bytes(encoded))
    }

    /// - Parameter name: percent-encoded
    package init(_ name: Bytes) {
        var text = name.span.leniently
        if let (ascii, _) = text.span.foldedToASCII() { text = ascii }
        if let end = text.firstIndex(of: 0) { text.removeSubrange(end...) }
        let start = text.firstIndex { !Self.isIgnored($0) && !Self.isBracket($0) }
        // A name that consists of brackets stays as it is.
        if let start { text.removeSubrange(..<start) }
        if let bracket = text.dropFirst().firstIndex(of: UInt8(ascii: "[")),
            text[bracket...].contains(UInt8(ascii: "]"))
        {
            text.removeSubrange(bracket...)
        }
        while start != nil, let last = text.last,
            Self.isIgnored(last) || last == UInt8(ascii: "]")
        {
            text.removeLast()
        }
        folded = text.map(Self.folded)
    }

    /// Blanks, control bytes, and a `?` that some readers remove.
    private static func isIgnored(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "?")
    }

    private static func isBracket(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: " "): UInt8(ascii: "_")
        default: byte
        }
    }
}

extension QueryParameter {
    /// The names that servers may find in it: those that split a query at `;` find several.
    var names: [QueryName] {
        text.parts(separatedBy: UInt8(ascii: ";")).map { part in
            let end = part.span.firstOffset(of: UInt8(ascii: "=")) ?? part.count
            return QueryName(part[0..<end])
        }
    }
}

extension Span<UInt8> {
    /// Decoded, without each `%` that begins no escape.
    fileprivate var leniently: [UInt8] {
        var bytes: [UInt8] = []
        var index = 0
        while index < count {
            switch self[index] {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                if let value = hexValue(index + 1, digits: 2) {
                    bytes.append(UInt8(truncatingIfNeeded: value))
                    index += 2
                } else if index + 1 < count, self[index + 1] | 0x20 == UInt8(ascii: "u"),
                    let value = hexValue(index + 2, digits: 4), value < 0x80
                {
                    bytes.append(UInt8(truncatingIfNeeded: value))
                    index += 5
                }
            case let byte: bytes.append(byte)
            }
            index += 1
        }
        return bytes
    }

    private func hexValue(_ start: Int, digits: Int) -> Int? {
        guard start + digits <= count else { return nil }
        var value = 0
        for index in start..<(start + digits) {
            guard let digit = Character(UnicodeScalar(self[index])).hexDigitValue else {
                return nil
            }
            value = value << 4 | digit
        }
        return value
    }
}
