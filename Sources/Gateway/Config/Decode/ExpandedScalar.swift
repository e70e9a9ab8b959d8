import YAMLReader

/// A scalar whose `${...}` have been expanded.
struct ExpandedScalar {
    /// The expanded text.
    let text: String

    /// The text in the file. Messages quote it instead of `text`, which may contain secrets.
    let written: String

    let location: SourceLocation
    let isExpanded: Bool
    let type: ScalarType

    /// The location of the first character of `text`, if the file contains the text verbatim.
    let textStart: SourceLocation?

    /// An expanded scalar gets the type of a plain scalar, even if it is quoted, because `${...}`
    /// inside of `{ }` must be quoted.
    init(written: DocumentNode.Scalar, expanded: String?, location: SourceLocation) {
        self.written = written.text
        self.location = location
        text = expanded ?? written.text
        isExpanded = expanded != nil
        let plain = DocumentNode.Scalar(text: text, isPlain: written.isPlain || isExpanded)
        type = plain.type
        textStart = isExpanded ? nil : written.textStart
    }

    /// Whether it can be read as a text: an expanded scalar can, even if it looks like a number.
    var isText: Bool { type == .string || isExpanded }
}
