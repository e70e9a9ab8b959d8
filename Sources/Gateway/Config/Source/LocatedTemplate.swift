package import YAMLReader

/// A template with the source locations of its text and its references.
package struct LocatedTemplate: Sendable {
    package let template: TemplateText
    let location: SourceLocation
    /// The location of the first character, if the file contains the text verbatim.
    let textStart: SourceLocation?
    /// The text in the file, if a part of it comes from a variable or a secret file.
    package var written: String?

    /// The template for output, with `${NAME}` instead of values.
    package var shown: TemplateText {
        guard let written else { return template }
        return (try? TemplateText(parsing: Expansion.concealed(written)))
            ?? TemplateText(text: written, segments: [.literal(written)])
    }

    /// The text in the file.
    package var shownText: String { written ?? template.text }

    /// The location of a reference: exact if the file contains the text verbatim, else the
    /// location of the text.
    package func location(of reference: TemplateText.Reference) -> SourceLocation {
        textStart?.advanced(by: reference.offset) ?? location
    }

    /// Its references, each with its location.
    var locatedReferences: [Located<TemplateText.Reference>] {
        template.references.map { Located($0, at: location(of: $0)) }
    }

    /// The reference that is the whole text; nil if there is more, or none.
    var soleReference: Located<TemplateText.Reference>? {
        template.soleReference.map { Located($0, at: location(of: $0)) }
    }
}

/// `body:` of a call: JSON with references, a single reference, or fixed text; or its `form:`.
///
/// Fixed text cannot have references, because their escaping would be unknown.
package struct BodyTemplate: Sendable {
    let location: SourceLocation
    /// Whether the pieces are fields of a form: `name=value&name=value`.
    package var isForm = false
    package let pieces: [Piece]
    /// Whether a part comes from a variable or a secret file; the body is then not shown.
    package let isConfidential: Bool
    /// The text that is sent as it is; nil if the body has references, variables or structure.
    let fixedText: String?

    package enum Piece: Sendable {
        /// Sent as it is.
        case literal(String)
        /// The JSON of the value: `19.90`, `"text"`, `{"a":1}`; a parameter by its declared type.
        case value(TemplateText.Reference, at: SourceLocation)
        /// The value inside a JSON string, or in a form: escaped, without quotes.
        case insideString(TemplateText.Reference, at: SourceLocation)
        /// The comma before an entry of an object or a list, or the `&` before a field of a form,
        /// unless the entry is the first.
        case comma
        /// An entry of an object (`key` is `"name":`), of a form (`name=`) or of a list (`key` is
        /// empty) that is omitted, with its comma, if the value is absent.
        case optionalEntry(key: String, TemplateText.Reference, at: SourceLocation)

        /// Its reference, if it has one.
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
