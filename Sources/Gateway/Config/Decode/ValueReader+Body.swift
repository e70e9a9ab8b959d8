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
                guard let value = decoder.valueTemplate(node) else { return nil }
                writer.append(value)
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
        guard node.hasReference(where: { $0.isLetter || $0 == "_" }) else {
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
        append(ValueTemplate(template))
        return true
    }

    /// A JSON value. The recursion is as deep as the value.
    mutating func append(_ value: ValueTemplate) {
        switch value {
        case .literal(let text): literal += text
        case .reference(let reference, let location): append(.value(reference, at: location))
        case .object(let members):
            literal += "{"
            append(members.map { (String(jsonQuoting: $0.key) + ":", $0.value) })
            literal += "}"
        case .list(let elements):
            literal += "["
            append(elements.map { ("", $0) })
            literal += "]"
        case .text(let template):
            literal += "\""
            appendParts(of: template) { String(String(jsonQuoting: $0).dropFirst().dropLast()) }
            literal += "\""
        }
    }

    /// The entries of an object or a list. If one of them is optional, the commas between them
    /// depend on the request.
    private mutating func append(_ entries: [(key: String, value: ValueTemplate)]) {
        let hasOptional = entries.contains(where: \.value.isOptional)
        for (index, entry) in entries.enumerated() {
            if appendOptional(entry.key, entry.value) { continue }
            if index > 0 {
                if hasOptional { append(.comma) } else { literal += "," }
            }
            literal += entry.key
            append(entry.value)
        }
    }

    /// False, and appends nothing, if the entry is not optional.
    private mutating func appendOptional(_ key: String, _ value: ValueTemplate) -> Bool {
        guard case .reference(let reference, let location) = value, reference.isOptional else {
            return false
        }
        append(.optionalEntry(key: key, reference, at: location))
        return true
    }

    private mutating func appendParts(
        of template: LocatedTemplate, escapedBy escape: (String) -> String
    ) {
        for segment in template.template.segments {
            switch segment {
            case .literal(let text): literal += escape(text)
            case .reference(let reference):
                append(.insideString(reference, at: template.location(of: reference)))
            }
        }
    }

    /// The fields of a form.
    mutating func appendFields(
        _ members: [DocumentNode.Member], _ decoder: inout ConfigDecoder
    ) {
        for member in members {
            let key = Self.formEncoded(member.key) + "="
            if member.node.hasReference() {
                guard let template = decoder.template(member.node, checking: { _ in }),
                    !appendOptional(key, ValueTemplate(template))
                else { continue }
                append(.comma)
                literal += key
                appendParts(of: template, escapedBy: Self.formEncoded)
            } else if let scalar = decoder.scalar(member.node, expected: Self.formValue) {
                if scalar.type == .null, !scalar.isExpanded {
                    decoder.fail(member.node.location, Self.formValue)
                }
                append(.comma)
                literal += key + Self.formEncoded(scalar.text)
            }
        }
    }

    private static let formValue = "must be a text, a number, true or false"

    private static func formEncoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(percentEncoding: Bytes(text).span)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func checkIsAlone(_ template: TemplateText) throws(Refusal) {
        guard !template.references.isEmpty, template.segments.count > 1 else { return }
        throw Refusal(
            "must be one reference alone, such as \"{request.body}\", or a mapping whose values have"
                + " references, so that they can be escaped: body: { user: \"{id}\" }")
    }
}
