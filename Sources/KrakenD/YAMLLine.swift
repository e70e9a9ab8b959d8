import YAMLReader

/// One line of a YAML document, with the source location that it was generated from.
struct YAMLLine {
    let text: String
    let location: SourceLocation?

    init(_ text: String, location: SourceLocation? = nil) {
        self.text = text
        self.location = location
    }

    func indented(by space: String = "  ") -> YAMLLine {
        YAMLLine(space + text, location: location)
    }

    /// The innermost location is the most precise, so it is kept.
    func located(_ outer: SourceLocation) -> YAMLLine {
        YAMLLine(text, location: location ?? outer)
    }

    var asComment: YAMLLine { YAMLLine("# " + text, location: location) }

    /// A comment, wrapped into lines. Line breaks and other control characters become spaces, so
    /// that no input text can end the comment.
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

    /// Characters that YAML 1.2 does not allow in a comment (section 5.1), and those that change
    /// the text direction.
    private static func isUnprintable(_ sign: Unicode.Scalar) -> Bool {
        switch sign.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
            .privateUse:
            true
        default: false
        }
    }
}
