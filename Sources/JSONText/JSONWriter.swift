package import Basics

/// Writing JSON into an array of bytes; compact, and nothing escaped without need.
extension [UInt8] {
    /// A value as it was written.
    package mutating func append(json value: JSONSlice) {
        append(value.bytes)
    }

    /// A string with its quotes, escaped where RFC 8259 section 7 demands it.
    package mutating func append(jsonString text: String) {
        append(jsonString: Bytes(text))
    }

    /// The same for UTF-8 at hand. The caller knows that it is well-formed.
    package mutating func append(jsonString text: Bytes) {
        append(.quote)
        append(escaping: text.span)
        append(.quote)
    }

    /// The inside of a string that is open already, without quotes.
    package mutating func append(insideJSONString text: Bytes) {
        append(escaping: text.span)
    }

    /// A key with its colon, and the comma before it if a member precedes it.
    package mutating func append(jsonKey text: String) {
        appendJSONComma()
        append(jsonString: text)
        append(.colon)
    }

    /// The same for a key that was made before.
    package mutating func append(jsonKey name: JSONName) {
        appendJSONComma()
        append(name.written)
    }

    /// A comma, unless only the opening bracket precedes it.
    package mutating func appendJSONComma() {
        guard let last, last != .openBrace, last != .openBracket else { return }
        append(.comma)
    }

    private mutating func append(escaping text: Span<UInt8>) {
        var plainStart = 0
        for offset in 0..<text.count where text[offset].isEscapedInJSON {
            append(copying: text.extracting(plainStart..<offset))
            append(escapeOf: text[offset])
            plainStart = offset + 1
        }
        append(copying: text.extracting(plainStart..<text.count))
    }

    private mutating func append(escapeOf byte: UInt8) {
        append(.backslash)
        switch byte {
        case .quote, .backslash: append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append(literal: "u00")
            append(hexDigit: byte >> 4)
            append(hexDigit: byte & 0x0F)
        }
    }

    private mutating func append(hexDigit value: UInt8) {
        append(value < 10 ? .zero + value : UInt8(ascii: "a") + (value - 10))
    }
}

extension UInt8 {
    fileprivate var isEscapedInJSON: Bool { self < 0x20 || self == .quote || self == .backslash }
}

extension String {
    /// A text as a string of JSON, with its quotes.
    package init(jsonQuoting text: String) {
        var json: [UInt8] = []
        json.append(jsonString: text)
        self.init(Bytes(json))
    }
}
