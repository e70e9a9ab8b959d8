import YAMLReader

/// A scalar whose `${...}` have been expanded.
struct ReadScalar {
    /// What is meant.
    let text: String

    /// What the file says. Problems that quote a whole value quote this: what was put in may be secret.
    let written: String

    let location: SourceLocation
    let isExpanded: Bool
    let type: ScalarType

    /// Where the first character of `text` stands, if the file spells it so.
    let textStart: SourceLocation?

    /// An expanded scalar is typed as if it had been written plainly, with quotes or without: inside
    /// of `{ }`, `${...}` has to be quoted.
    init(written: DocumentNode.Scalar, expanded: String?, location: SourceLocation) {
        self.written = written.text
        self.location = location
        text = expanded ?? written.text
        isExpanded = expanded != nil
        let plain = DocumentNode.Scalar(text: text, isPlain: written.isPlain || isExpanded)
        type = plain.type
        textStart = isExpanded ? nil : written.textStart
    }

    /// Written as a text; an expanded one may look like a number and still be meant as a text.
    var isText: Bool { type == .string || isExpanded }
}
