package import Basics

/// Bytes known to be exactly one JSON value, without white space around it.
///
/// Only the scanner, and the code of this module that combines scanned values, can make one; so it
/// can be inserted into another text without validation. Parts share its memory.
package struct JSONSlice: Sendable, Equatable {
    /// The value as it was written.
    package let bytes: Bytes

    /// The caller knows that the bytes are one value.
    init(known bytes: Bytes) { self.bytes = bytes }

    /// Checks a text, and trims the white space around its value.
    package init(validating text: Bytes, depthMax: Int = JSONSlice.depthMax) throws(JSONError) {
        let range = try JSONSlice.range(in: text.span, depthMax: depthMax)
        bytes = text[range]
    }

    /// Checks borrowed bytes, such as the bytes of a read buffer, and copies their value only.
    package init(
        copying text: Span<UInt8>, depthMax: Int = JSONSlice.depthMax
    ) throws(JSONError) {
        let range = try JSONSlice.range(in: text, depthMax: depthMax)
        bytes = Bytes(copying: text.extracting(range))
    }

    /// Checks borrowed bytes without copying them, and returns the range of their value.
    ///
    /// - Parameter depthMax: how deep containers may nest, 1024 at most.
    package static func range(
        in text: Span<UInt8>, depthMax: Int = JSONSlice.depthMax
    ) throws(JSONError) -> Range<Int> {
        if text.count >= BlockScanner.countMin,
            let range = BlockScanner.wholeText(of: text, depthMax: depthMax)
        {
            return range
        }
        return try JSONScanner(text, depthMax: depthMax).wholeText()
    }

    /// How deep containers may nest by default: more than ordinary documents need.
    package static let depthMax = 512

    /// The value `null`.
    package static let null = JSONSlice(known: Bytes("null"))

    /// The values `{}` and `[]`.
    static let emptyObject = JSONSlice(known: Bytes("{}"))
    package static let emptyArray = JSONSlice(known: Bytes("[]"))

    /// The six kinds of JSON value.
    package enum Kind: Sendable {
        case object, array, string, number, boolean, null
    }

    /// The first byte determines it.
    package var kind: Kind {
        switch bytes[0] {
        case .openBrace: .object
        case .openBracket: .array
        case .quote: .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    package var isNull: Bool { kind == .null }

    /// A scalar as plain text: a string without quotes and escapes, a number as it was written.
    ///
    /// Nil for null, objects and arrays.
    package var text: Bytes? {
        switch kind {
        case .string: JSONString(known: bytes[1..<(bytes.count - 1)]).unescaped
        case .number, .boolean: bytes
        case .object, .array, .null: nil
        }
    }
}
