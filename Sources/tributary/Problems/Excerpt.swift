/// A line of a file, and below it a caret under one of its characters.
struct Excerpt {
    let line: String
    let caret: String

    /// Longer lines are cut, such as a configuration in JSON that is one line.
    static let charactersMax = 100

    /// The characters before the caret in a line that is cut.
    private static let charactersBefore = 60

    /// Nil if the line is blank or has no such column.
    ///
    /// - Parameter column: in Unicode scalars, from 1 on; one more than the line has is its end
    init?(of bytes: some Sequence<UInt8>, column: Int) {
        var scalars = Array(String(decoding: Array(bytes), as: UTF8.self).unicodeScalars)
        // A byte order mark is not part of the text, the first half of CR LF not of the line.
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        if scalars.last == "\r" { scalars.removeLast() }
        guard scalars.contains(where: { !$0.properties.isWhitespace }),
            (1...scalars.count + 1).contains(column)
        else { return nil }
        let isCut = scalars.count > Self.charactersMax
        let start = isCut ? max(0, column - 1 - Self.charactersBefore) : 0
        let end = isCut ? min(scalars.count, start + Self.charactersMax) : scalars.count
        let head = start > 0 ? "..." : ""
        line =
            head + scalars[start..<end].map { String($0.shown) }.joined()
            + (end < scalars.count ? "..." : "")
        caret =
            String(repeating: " ", count: head.count)
            + scalars[start..<(column - 1)].map(\.blank).joined() + "^"
    }
}

extension Unicode.Scalar {
    /// The character itself, unless it could change what a terminal shows, as escape sequences and
    /// changes of the direction do.
    fileprivate var shown: Unicode.Scalar {
        switch properties.generalCategory {
        case .control where self != "\t": "\u{FFFD}"
        case .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
        default: self
        }
    }

    /// White space of the same width.
    fileprivate var blank: String {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: ""
        default: self == "\t" ? "\t" : " "
        }
    }
}
