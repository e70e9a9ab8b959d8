package import YAMLReader

/// A template, and where it and its references stand.
package struct LocatedTemplate: Sendable {
    package let template: TemplateText
    let location: SourceLocation
    /// Where the first character of the text stands, if the file spells it so.
    let textStart: SourceLocation?
    /// The text of the file, if a variable or a secret's file put something into it.
    package var written: String?

    /// The template as it may be shown, with `${NAME}` instead of what was put in.
    package var shown: TemplateText {
        guard let written else { return template }
        return (try? TemplateText(parsing: Expansion.concealed(written)))
            ?? TemplateText(text: written, segments: [.literal(written)])
    }

    /// Where a reference stands: exactly, if the file spells the text so, else where the text does.
    package func location(of reference: TemplateText.Reference) -> SourceLocation {
        textStart?.advanced(by: reference.offset) ?? location
    }
}

/// `body:` of a call: JSON with references in it, or one reference alone, or fixed text.
///
/// References never stand in free text, because nobody could know how to escape them there.
package struct BodyTemplate: Sendable {
    let location: SourceLocation
    package let pieces: [Piece]
    /// Whether a variable or a secret's file put something in, which is then not shown.
    package let isConfidential: Bool

    package enum Piece: Sendable {
        /// Sent as it is.
        case literal(String)
        /// The JSON of the value: `19.90`, `"text"`, `{"a":1}`; a parameter by its declared type.
        case value(TemplateText.Reference, at: SourceLocation)
        /// The value inside of a JSON string that is already open: escaped, without quotes.
        case insideString(TemplateText.Reference, at: SourceLocation)
        /// The comma before an entry of an object or a list, unless the entry is the first.
        case comma
        /// An entry of an object (`key` is `"name":`) or of a list (`key` is empty) that is left out,
        /// with its comma, where the value is absent.
        case optionalEntry(key: String, TemplateText.Reference, at: SourceLocation)

        /// The reference in it, if there is one.
        var reference: Located<TemplateText.Reference>? {
            switch self {
            case .literal, .comma: nil
            case .value(let reference, let location), .insideString(let reference, let location),
                .optionalEntry(_, let reference, let location):
                Located(reference, at: location)
            }
        }
    }
}
