import Basics

/// Why a text is not a path, and where.
package struct JSONPathError: Error, Equatable, CustomStringConvertible {
    /// Counted in bytes from the start of the text.
    package let offset: Int
    package let reason: Reason

    /// What is wrong at the offset.
    package enum Reason: Sendable {
        case empty, missingKey, unexpectedByte, invalidIndex, invalidQuotedKey, tooLong
    }

    package var description: String {
        switch reason {
        case .empty: "a path must name something, such as a.b or items[].price"
        case .missingKey: "a key is missing here (quote a key that is empty or has . [ ] \" in it)"
        case .unexpectedByte: "after a key or a bracket only . or [ can follow"
        case .invalidIndex:
            "brackets must be [] for every element, or have the index of one, such as [0]"
        case .invalidQuotedKey: "a quoted key must be a string of JSON"
        case .tooLong: "a path has at most \(JSONSlice.depthMax) steps"
        }
    }
}

/// Reads `key`, `"quoted key"`, `[]` and `[n]`, keys joined by dots.
struct JSONPathParser {
    private let text: Bytes
    private var at = 0

    init(_ text: String) { self.text = Bytes(text) }

    mutating func steps() throws(JSONPathError) -> [JSONPath.Step] {
        guard !text.isEmpty else { throw failure(.empty) }
        var steps: [JSONPath.Step] = []
        while at < text.count {
            // No JSON text is deeper, so a longer path could not match.
            guard steps.count < JSONSlice.depthMax else { throw failure(.tooLong) }
            steps.append(try step(isFirst: steps.isEmpty))
        }
        return steps
    }

    private mutating func step(isFirst: Bool) throws(JSONPathError) -> JSONPath.Step {
        if byte == UInt8.openBracket { return try bracket() }
        if !isFirst {
            guard byte == UInt8.dot else { throw failure(.unexpectedByte) }
            at += 1
        }
        return .key(byte == UInt8.quote ? try quotedKey() : try plainKey())
    }

    private mutating func bracket() throws(JSONPathError) -> JSONPath.Step {
        let open = at
        at += 1
        var index: Int?
        while let digit = byte, digit.isDigit {
            // Nine digits exceed the number of elements of any text in memory.
            guard at - open <= 9, index != 0 else { throw failure(.invalidIndex) }
            index = (index ?? 0) * 10 + Int(digit - .zero)
            at += 1
        }
        guard byte == UInt8.closeBracket else { throw failure(.invalidIndex) }
        at += 1
        return index.map(JSONPath.Step.element) ?? .everyElement
    }

    private mutating func plainKey() throws(JSONPathError) -> Bytes {
        let start = at
        while let byte, ![.dot, .openBracket, .closeBracket, .quote].contains(byte) { at += 1 }
        guard at > start else { throw failure(.missingKey) }
        return text[start..<at]
    }

    private mutating func quotedKey() throws(JSONPathError) -> Bytes {
        let end = Lookahead(text.span).stringEnd(at)
        guard let key = try? JSONSlice(validating: text[at..<end]).text else {
            throw failure(.invalidQuotedKey)
        }
        at = end
        return key
    }

    private var byte: UInt8? { at < text.count ? text[at] : nil }

    private func failure(_ reason: JSONPathError.Reason) -> JSONPathError {
        JSONPathError(offset: at, reason: reason)
    }
}
