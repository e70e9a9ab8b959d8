package import Basics

/// Writing compact JSON into an array of bytes, with the required escapes only.
extension [UInt8] {
    /// Appends a value as it was written.
    package mutating func append(json value: JSONSlice) {
        append(value.bytes)
    }

    /// Appends a string with its quotes, escaped where RFC 8259 section 7 requires it.
    package mutating func append(jsonString text: String) {
        append(jsonString: Bytes(text))
    }

    /// Appends a string with its quotes. The caller ensures that it is well-formed UTF-8.
    package mutating func append(jsonString text: Bytes) {
        append(.quote)
        append(escaping: text.span)
        append(.quote)
    }

    /// Appends to the inside of a string, without quotes.
    package mutating func append(insideJSONString text: Bytes) {
        append(escaping: text.span)
    }

    /// Appends a key with its colon, and a comma before it if a member precedes it.
    package mutating func append(jsonKey text: String) {
        appendJSONComma()
        append(jsonString: text)
        append(.colon)
    }

    /// Appends a prepared key with its colon, and a comma before it if a member precedes it.
    package mutating func append(jsonKey name: JSONName) {
        appendJSONComma()
        append(name.written)
    }

    /// Appends a comma, unless only the opening bracket precedes it.
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
