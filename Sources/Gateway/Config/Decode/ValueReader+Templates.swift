import YAMLReader

/// Texts with references.
extension ValueReader where Value == LocatedTemplate {
    /// A text with references; `check` checks the literal pieces between them.
    ///
    /// - Parameter joinsLists: whether references may join the elements of a list
    static func template(
        _ schema: ValueSchema, joinsLists: Bool = false,
        checking check: @escaping @Sendable (TemplateText) throws(Refusal) -> Void
    ) -> ValueReader {
        ValueReader(schema: schema) { node, decoder in
            decoder.template(node, joinsLists: joinsLists, checking: check)
        }
    }

    /// The path and query of a call.
    static var target: ValueReader {
        template(.text(format: .pathWithReferences), joinsLists: true) {
            template throws(Refusal) in
            guard template.text.hasPrefix("/") else {
                throw Refusal("must begin with a '/'; the host comes from the backend")
            }
            for case .literal(let text) in template.segments {
                try URLSyntax.check(pathAndQuery: text)
            }
            try template.checkRepeatedParameters()
        }
    }

    static var headerTemplate: ValueReader {
        template(.scalar, joinsLists: true) { template throws(Refusal) in
            for reference in template.references {
                guard case .parameter = reference.separator else { continue }
                throw Refusal(
                    "must have {\(reference.name),}: only a query can repeat a parameter")
            }
            for case .literal(let text) in template.segments {
                try HeaderSyntax.check(value: text)
            }
        }
    }
}

extension ConfigDecoder {
    /// A scalar's text, parsed as a template; the values of `${...}` are literal in it.
    mutating func template(
        _ node: DocumentNode, joinsLists: Bool = false,
        checking check: (TemplateText) throws(Refusal) -> Void
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
            if !joinsLists { try template.checkJoinsNoLists() }
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

extension TemplateText {
    /// A list becomes one text in a path, a query or a header; elsewhere it has its own type.
    fileprivate func checkJoinsNoLists() throws(Refusal) {
        guard let reference = references.first(where: { $0.separator != nil }) else { return }
        throw Refusal(
            "must have {\(reference.name)}: a list is joined only in a path, a query or a header")
    }

    /// `{tags&tag=}` stands behind `tag=` in a query.
    fileprivate func checkRepeatedParameters() throws(Refusal) {
        var before = ""
        for segment in segments {
            switch segment {
            case .literal(let text): before += text
            case .reference(let reference):
                if case .parameter(let name) = reference.separator {
                    let isInQuery = before.contains("?")
                    guard isInQuery, before.hasSuffix("?\(name)=") || before.hasSuffix("&\(name)=")
                    else {
                        throw Refusal(
                            "must have {\(reference.text)} behind '\(name)=' in the query: it"
                                + " repeats that parameter")
                    }
                }
                // Not a character that a parameter begins with.
                before += "x"
            }
        }
    }
}
