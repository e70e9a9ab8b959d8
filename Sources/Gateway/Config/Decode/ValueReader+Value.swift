import YAMLReader

/// A JSON value with references.
extension ConfigDecoder {
    /// The value of a node; nil if it could not be read. An entry that could not be read is left out.
    ///
    /// The recursion is bounded by the depth of documents.
    mutating func valueTemplate(_ node: DocumentNode) -> ValueTemplate? {
        switch node.content {
        case .mapping(let members):
            var read: [(key: String, value: ValueTemplate)] = []
            for member in withoutDuplicates(members) {
                if let value = valueTemplate(member.node) { read.append((member.key, value)) }
            }
            return .object(read)
        case .sequence(let nodes):
            return .list(nodes.compactMap { valueTemplate($0) })
        case .scalar where node.hasReference():
            return template(node, checking: { _ in }).map { ValueTemplate($0) }
        case .scalar:
            return scalar(node, expected: "must be a value").flatMap { jsonLiteral(of: $0) }
                .map { .literal($0) }
        }
    }
}

extension ValueTemplate {
    /// A single reference is a value; a reference within text is a part of a string.
    init(_ template: LocatedTemplate) {
        if let alone = template.soleReference {
            self = .reference(alone.value, at: alone.location)
        } else {
            self = .text(template)
        }
    }
}

extension DocumentNode {
    /// Whether a scalar contains a `{` that is not part of `${...}`, before a matching character:
    /// the brace of fixed JSON text, `{"a":1}`, does not begin a reference.
    func hasReference(where isName: (Character) -> Bool = { _ in true }) -> Bool {
        guard case .scalar(let scalar) = content else { return false }
        let text = Array(scalar.text)
        return text.indices.contains { index in
            text[index] == "{" && (index == 0 || text[index - 1] != "$")
                && (index + 1 == text.count || isName(text[index + 1]))
        }
    }

    /// Whether a text in it has `${...}`. The recursion is as deep as the document, which its
    /// reader bounds.
    var hasExpansion: Bool {
        switch content {
        case .scalar(let scalar): Expansion.isNeeded(in: scalar.text)
        case .sequence(let nodes): nodes.contains(where: \.hasExpansion)
        case .mapping(let members): members.contains { $0.node.hasExpansion }
        }
    }
}
