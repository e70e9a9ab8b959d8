import Basics
import JSONText
import YAMLReader

extension Reading where Value == BodyTemplate {
    /// A mapping or a list becomes JSON with references in it; a text is one reference alone, or is
    /// sent as it stands.
    static var body: Reading {
        Reading(schema: .anything) { node, decoder in
            var writer = BodyTemplateWriter()
            let isRight: Bool
            if case .scalar = node.content {
                isRight = writer.appendText(node, &decoder)
            } else {
                isRight = writer.append(node, &decoder)
            }
            guard isRight else { return nil }
            return BodyTemplate(
                location: node.location, pieces: writer.finished, isConfidential: node.hasExpansion)
        }
    }
}

/// Collects the pieces of a body; neighbouring literals become one.
private struct BodyTemplateWriter {
    private var pieces: [BodyTemplate.Piece] = []
    private var literal = ""

    var finished: [BodyTemplate.Piece] {
        literal.isEmpty ? pieces : pieces + [.literal(literal)]
    }

    private mutating func append(_ piece: BodyTemplate.Piece) {
        pieces = finished + [piece]
        literal = ""
    }

    /// The whole body as one scalar.
    mutating func appendText(_ node: DocumentNode, _ decoder: inout ConfigDecoder) -> Bool {
        guard isReferring(node, where: { $0.isLetter || $0 == "_" }) else {
            guard let scalar = decoder.scalar(node, expected: "must be a text") else {
                return false
            }
            literal += scalar.type == .null && !scalar.isExpanded ? "null" : scalar.text
            return true
        }
        guard let template = decoder.template(node, checking: Self.checkIsAlone) else {
            return false
        }
        return append(template)
    }

    /// A value of JSON. Recursion is bounded by the depth of documents.
    mutating func append(_ node: DocumentNode, _ decoder: inout ConfigDecoder) -> Bool {
        var isRight = true
        switch node.content {
        case .mapping(let members):
            let entries = decoder.withoutDuplicates(members).map {
                (key: String(jsonQuoting: $0.key) + ":", node: $0.node)
            }
            literal += "{"
            isRight = append(entries, &decoder)
            literal += "}"
        case .sequence(let nodes):
            literal += "["
            isRight = append(nodes.map { (key: "", node: $0) }, &decoder)
            literal += "]"
        case .scalar where isReferring(node):
            guard let template = decoder.template(node, checking: { _ in }) else { return false }
            return append(template)
        case .scalar:
            guard let scalar = decoder.scalar(node, expected: "must be a value"),
                let value = decoder.jsonLiteral(of: scalar)
            else { return false }
            literal += value
        }
        return isRight
    }

    /// The entries of an object or a list. Where one of them may be left out, the commas between
    /// them depend on the request.
    private mutating func append(
        _ entries: [(key: String, node: DocumentNode)], _ decoder: inout ConfigDecoder
    ) -> Bool {
        let hasOptional = entries.contains { isOptional($0.node) }
        var isRight = true
        for (index, entry) in entries.enumerated() {
            if isOptional(entry.node) {
                isRight = appendOptional(entry.key, entry.node, &decoder) && isRight
                continue
            }
            if index > 0 {
                if hasOptional { append(.comma) } else { literal += "," }
            }
            literal += entry.key
            isRight = append(entry.node, &decoder) && isRight
        }
        return isRight
    }

    private mutating func appendOptional(
        _ key: String, _ node: DocumentNode, _ decoder: inout ConfigDecoder
    ) -> Bool {
        guard let template = decoder.template(node, checking: { _ in }) else { return false }
        guard let reference = template.template.references.first else { return false }
        append(.optionalEntry(key: key, reference, at: template.location(of: reference)))
        return true
    }

    /// Whether an entry is one reference alone that ends with a `?`.
    private func isOptional(_ node: DocumentNode) -> Bool {
        guard case .scalar(let scalar) = node.content,
            let template = try? TemplateText(parsing: scalar.text),
            template.segments.count == 1, let reference = template.references.first
        else { return false }
        return reference.isOptional
    }

    /// A reference alone is a value; among text it stands inside of a string.
    private mutating func append(_ template: LocatedTemplate) -> Bool {
        let segments = template.template.segments
        if segments.count == 1, case .reference(let reference) = segments[0] {
            append(.value(reference, at: template.location(of: reference)))
            return true
        }
        literal += "\""
        for segment in segments {
            switch segment {
            case .literal(let text):
                literal += String(jsonQuoting: text).dropFirst().dropLast()
            case .reference(let reference):
                append(.insideString(reference, at: template.location(of: reference)))
            }
        }
        literal += "\""
        return true
    }

    /// Whether a scalar has braces of its own, beside those of `${...}`, with such a sign behind:
    /// the brace of a fixed JSON text, `{"a":1}`, begins no reference.
    private func isReferring(
        _ node: DocumentNode, where isName: (Character) -> Bool = { _ in true }
    ) -> Bool {
        guard case .scalar(let scalar) = node.content else { return false }
        let text = Array(scalar.text)
        return text.indices.contains { index in
            text[index] == "{" && (index == 0 || text[index - 1] != "$")
                && (index + 1 == text.count || isName(text[index + 1]))
        }
    }

    private static func checkIsAlone(_ template: TemplateText) throws(Refusal) {
        guard !template.references.isEmpty, template.segments.count > 1 else { return }
        throw Refusal(
            "must be one reference alone, such as \"{request.body}\", or a mapping whose values have"
                + " references, so that they can be escaped: body: { user: \"{id}\" }")
    }
}

extension DocumentNode {
    /// Whether a text in it has `${...}`. As deep as the document, which its reader bounds.
    fileprivate var hasExpansion: Bool {
        switch content {
        case .scalar(let scalar): Expansion.isNeeded(in: scalar.text)
        case .sequence(let nodes): nodes.contains(where: \.hasExpansion)
        case .mapping(let members): members.contains { $0.node.hasExpansion }
        }
    }
}
