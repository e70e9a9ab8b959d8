import Basics
import HTTP
import JSONText
import YAMLReader

/// The body of a call.
extension ValueReader where Value == BodyTemplate {
    /// A mapping or a list becomes JSON with references; a text is a single reference, or is sent
    /// unchanged.
    static var body: ValueReader {
        ValueReader(schema: .anything) { node, decoder in
            var writer = BodyTemplateWriter()
            if case .scalar = node.content {
                guard writer.appendText(node, &decoder) else { return nil }
            } else {
                // Its other entries are checked although one of them could not be read.
                _ = writer.append(node, &decoder)
            }
            return BodyTemplate(
                location: node.location, pieces: writer.allPieces,
                isConfidential: node.hasExpansion, fixedText: writer.fixedText)
        }
    }

    /// The fields of a form: texts with references, numbers and truth values.
    static var form: ValueReader {
        ValueReader(schema: .map(.anything)) { node, decoder in
            guard case .mapping(let members) = node.content else {
                decoder.fail(node.location, "must be a mapping: { name: value }")
                return nil
            }
            var writer = BodyTemplateWriter()
            writer.appendFields(decoder.withoutDuplicates(members), &decoder)
            return BodyTemplate(
                location: node.location, isForm: true, pieces: writer.allPieces,
                isConfidential: node.hasExpansion, fixedText: nil)
        }
    }
}

/// Collects the pieces of a body; adjacent literals are joined.
private struct BodyTemplateWriter {
    private var pieces: [BodyTemplate.Piece] = []
    private var literal = ""
    /// The text of a whole body without references and variables.
    private(set) var fixedText: String?

    var allPieces: [BodyTemplate.Piece] {
        literal.isEmpty ? pieces : pieces + [.literal(literal)]
    }

    private mutating func append(_ piece: BodyTemplate.Piece) {
        pieces = allPieces + [piece]
        literal = ""
    }

    /// The whole body as one scalar.
    mutating func appendText(_ node: DocumentNode, _ decoder: inout ConfigDecoder) -> Bool {
        guard hasReference(node, where: { $0.isLetter || $0 == "_" }) else {
            guard let scalar = decoder.scalar(node, expected: "must be a text") else {
                return false
            }
            literal += scalar.type == .null && !scalar.isExpanded ? "null" : scalar.text
            if !scalar.isExpanded { fixedText = scalar.text }
            return true
        }
        guard let template = decoder.template(node, checking: Self.checkIsAlone) else {
            return false
        }
        return append(template)
    }

    /// A JSON value. The recursion is bounded by the depth of documents.
    mutating func append(_ node: DocumentNode, _ decoder: inout ConfigDecoder) -> Bool {
        var isValid = true
        switch node.content {
        case .mapping(let members):
            let entries = decoder.withoutDuplicates(members).map {
                (key: String(jsonQuoting: $0.key) + ":", node: $0.node)
            }
            literal += "{"
            isValid = append(entries, &decoder)
            literal += "}"
        case .sequence(let nodes):
            literal += "["
            isValid = append(nodes.map { (key: "", node: $0) }, &decoder)
            literal += "]"
        case .scalar where hasReference(node):
            guard let template = decoder.template(node, checking: { _ in }) else { return false }
            return append(template)
        case .scalar:
            guard let scalar = decoder.scalar(node, expected: "must be a value"),
                let value = decoder.jsonLiteral(of: scalar)
            else { return false }
            literal += value
        }
        return isValid
    }

    /// The fields of a form.
    mutating func appendFields(
        _ members: [DocumentNode.Member], _ decoder: inout ConfigDecoder
    ) {
        for member in members {
            let key = Self.formEncoded(member.key) + "="
            if isOptional(member.node) {
                _ = appendOptional(key, member.node, &decoder)
                continue
            }
            append(.comma)
            literal += key
            if hasReference(member.node) {
                appendField(member.node, &decoder)
            } else if let scalar = decoder.scalar(member.node, expected: Self.formValue) {
                if scalar.type == .null, !scalar.isExpanded {
                    decoder.fail(member.node.location, Self.formValue)
                }
                literal += Self.formEncoded(scalar.text)
            }
        }
    }

    private mutating func appendField(_ node: DocumentNode, _ decoder: inout ConfigDecoder) {
        guard let template = decoder.template(node, checking: { _ in }) else { return }
        for segment in template.template.segments {
            switch segment {
            case .literal(let text): literal += Self.formEncoded(text)
            case .reference(let reference):
                append(.insideString(reference, at: template.location(of: reference)))
            }
        }
    }

    private static let formValue = "must be a text, a number, true or false"

    private static func formEncoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(percentEncoding: Bytes(text).span)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The entries of an object or a list. If one of them is optional, the commas between them
    /// depend on the request.
    private mutating func append(
        _ entries: [(key: String, node: DocumentNode)], _ decoder: inout ConfigDecoder
    ) -> Bool {
        let hasOptional = entries.contains { isOptional($0.node) }
        var isValid = true
        for (index, entry) in entries.enumerated() {
            if isOptional(entry.node) {
                isValid = appendOptional(entry.key, entry.node, &decoder) && isValid
                continue
            }
            if index > 0 {
                if hasOptional { append(.comma) } else { literal += "," }
            }
            literal += entry.key
            isValid = append(entry.node, &decoder) && isValid
        }
        return isValid
    }

    private mutating func appendOptional(
        _ key: String, _ node: DocumentNode, _ decoder: inout ConfigDecoder
    ) -> Bool {
        guard let template = decoder.template(node, checking: { _ in }) else { return false }
        guard let reference = template.template.references.first else { return false }
        append(.optionalEntry(key: key, reference, at: template.location(of: reference)))
        return true
    }

    /// Whether an entry consists of one reference that ends with a `?`.
    private func isOptional(_ node: DocumentNode) -> Bool {
        guard case .scalar(let scalar) = node.content,
            let template = try? TemplateText(parsing: scalar.text),
            template.segments.count == 1, let reference = template.references.first
        else { return false }
        return reference.isOptional
    }

    /// A single reference is a value; a reference within text is a part of a string.
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

    /// Whether a scalar contains a `{` that is not part of `${...}`, before a matching character:
    /// the brace of fixed JSON text, `{"a":1}`, does not begin a reference.
    private func hasReference(
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
    /// Whether a text in it has `${...}`. The recursion is as deep as the document, which its
    /// reader bounds.
    fileprivate var hasExpansion: Bool {
        switch content {
        case .scalar(let scalar): Expansion.isNeeded(in: scalar.text)
        case .sequence(let nodes): nodes.contains(where: \.hasExpansion)
        case .mapping(let members): members.contains { $0.node.hasExpansion }
        }
    }
}
