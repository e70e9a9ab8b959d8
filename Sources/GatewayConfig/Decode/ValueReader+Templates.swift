import YAMLReader

/// Texts with references.
extension ValueReader where Value == LocatedTemplate {
    /// A text with references; `check` checks the literal pieces between them.
    static func template(
        _ schema: ValueSchema,
        checking check: @escaping @Sendable (TemplateText) throws(Refusal) -> Void
    ) -> ValueReader {
        ValueReader(schema: schema) { node, decoder in
            decoder.template(node, checking: check)
        }
    }

    /// The path and query of a call.
    static var target: ValueReader {
        template(.text(format: .pathWithReferences)) { template throws(Refusal) in
            guard template.text.hasPrefix("/") else {
                throw Refusal("must begin with a '/'; the host comes from the backend")
            }
            for case .literal(let text) in template.segments {
                try URLSyntax.check(pathAndQuery: text)
            }
        }
    }

    static var headerTemplate: ValueReader {
        template(.scalar) { template throws(Refusal) in
            for case .literal(let text) in template.segments {
                try HeaderSyntax.check(value: text)
            }
        }
    }
}

extension ConfigDecoder {
    /// A scalar's text, parsed as a template; the values of `${...}` are literal in it.
    mutating func template(
        _ node: DocumentNode, checking check: (TemplateText) throws(Refusal) -> Void
    ) -> LocatedTemplate? {
        let scalar = scalar(node, expected: "must be a text", bracesAreLiteral: true)
        guard let scalar else { return nil }
        let template: TemplateText
        do throws(TemplateError) {
            template = try TemplateText(parsing: scalar.text)
        } catch {
            let location = scalar.textStart?.advanced(by: error.offset) ?? scalar.location
            // The text between braces may be the value of a variable.
            fail(
                location,
                scalar.isExpanded
                    ? "cannot be read as a text with references: '\(scalar.written)'"
                    : "cannot be read: \(error.text)")
            return nil
        }
        do throws(Refusal) {
            // Every message about the reference would quote a name that comes from a variable.
            guard
                !scalar.isExpanded
                    || template.references.allSatisfy({ scalar.written.contains("{\($0.text)}") })
            else {
                throw Refusal("must contain its references in the file itself, not in a variable")
            }
            try check(template)
        } catch {
            refuse(scalar, error)
            return nil
        }
        return LocatedTemplate(
            template: template, location: scalar.location, textStart: scalar.textStart,
            written: scalar.isExpanded ? scalar.written : nil)
    }
}
