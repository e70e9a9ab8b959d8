package import YAMLReader

/// A JSON value with references, as a file has it.
package indirect enum ValueTemplate: Sendable {
    /// JSON text.
    case literal(String)
    /// A text that is one reference: the value that it refers to.
    case reference(TemplateText.Reference, at: SourceLocation)
    /// A text with references.
    case text(LocatedTemplate)
    case object([(key: String, value: ValueTemplate)])
    case list([ValueTemplate])

    /// In the order of the file. The recursion is as deep as the document, which its reader bounds.
    package var references: [Located<TemplateText.Reference>] {
        switch self {
        case .literal: []
        case .reference(let reference, let location): [Located(reference, at: location)]
        case .text(let template): template.locatedReferences
        case .object(let members): members.flatMap(\.value.references)
        case .list(let elements): elements.flatMap(\.references)
        }
    }

    /// Whether it is one reference that ends with a `?`.
    var isOptional: Bool {
        if case .reference(let reference, _) = self { reference.isOptional } else { false }
    }
}
