package import YAMLReader

/// Why a value is refused: `must be true or false`.
package struct Refusal: Error {
    let text: RefusalText
    package let location: SourceLocation?

    package init(_ text: RefusalText, at location: SourceLocation? = nil) {
        self.text = text
        self.location = location
    }

    /// The text of the refusal, for a value that the file itself contains.
    package var message: String { text.quotingValues }
}

/// The text of a refusal. Every interpolated value counts as confidential unless it is marked as
/// `fixed`, so that no message can print a value from the environment or a secret file by accident.
package struct RefusalText: ExpressibleByStringInterpolation {
    fileprivate enum Piece {
        case fixed(String)
        /// A part of the refused value.
        case value(String)
        /// Derived from the refused value; omitted if that is confidential.
        case hint(String)
    }

    private var pieces: [Piece]

    package init(stringLiteral text: String) {
        pieces = [.fixed(text)]
    }

    package init(stringInterpolation: StringInterpolation) {
        pieces = stringInterpolation.pieces
    }

    /// A text that is independent of the refused value.
    init(fixed text: String) {
        pieces = [.fixed(text)]
    }

    /// ` - did you mean 'timeout'?`, if a known name is similar.
    static func suggestion(for value: some StringProtocol, among known: [String]) -> Self {
        hint(Suggestion.hint(for: String(value), among: known))
    }

    /// Words that are omitted if the value is confidential.
    static func hint(_ message: String) -> Self {
        var text = Self(fixed: "")
        text.pieces = [.hint(message)]
        return text
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    /// The text with the values.
    var quotingValues: String {
        pieces.map { piece in
            switch piece {
            case .fixed(let text), .value(let text), .hint(let text): text
            }
        }.joined()
    }

    /// The text with the spelling in the file, such as `${NAME}`, instead of the values.
    func quoting(written: String) -> String {
        var isQuoted = false
        var text = ""
        for piece in pieces {
            switch piece {
            case .fixed(let message): text += message
            case .value:
                text += written
                isQuoted = true
            case .hint: break
            }
        }
        return isQuoted ? text : text + " (the value comes from '\(written)')"
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { pieces.append(.fixed(text)) }
        }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            pieces.append(.value("\(value)"))
        }

        mutating func appendInterpolation(fixed text: some CustomStringConvertible) {
            pieces.append(.fixed("\(text)"))
        }
    }
}
