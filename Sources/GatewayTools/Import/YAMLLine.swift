import YAMLReader

/// One line of a YAML document, and the source location of what it was made from.
struct YAMLLine {
    let text: String
    let place: Place?

    init(_ text: String, place: Place? = nil) {
        self.text = text
        self.place = place
    }

    func indented(by space: String = "  ") -> YAMLLine { YAMLLine(space + text, place: place) }

    /// The innermost location is the most exact, so it stays.
    func placed(_ outer: Place) -> YAMLLine { YAMLLine(text, place: place ?? outer) }

    var asComment: YAMLLine { YAMLLine("# " + text, place: place) }

    /// A comment of as many lines as it takes. Line breaks and other control characters become
    /// spaces, so that no text from outside can end the comment.
    static func comment(_ text: String) -> [YAMLLine] {
        let words = text.split { sign in
            sign.isWhitespace || sign.isNewline
                || sign.unicodeScalars.contains(where: isUnprintable)
        }
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(lines.isEmpty ? "# \(word)" : "#   \(word)")
            }
        }
        return lines.map { YAMLLine($0) }
    }

    private static let width = 100

    /// What YAML 1.2 does not allow in a comment (section 5.1), and what bends the reading direction.
    private static func isUnprintable(_ sign: Unicode.Scalar) -> Bool {
        switch sign.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
            .privateUse:
            true
        default: false
        }
    }
}
