import YAMLReader

/// The outline of a document, or its problem, in one line, for the tests of this folder.
func outline(of text: String) -> String {
    do {
        return outline(try YAMLDocument.read(Array(text.utf8), file: "f"))
    } catch {
        return "\(error.location.line):\(error.location.column) \(error.text)"
    }
}

private func outline(_ node: DocumentNode) -> String {
    switch node.content {
    case .scalar(let scalar):
        let start = scalar.textStart.map { "@\($0.line):\($0.column)" } ?? ""
        let text = scalar.isPlain ? scalar.text : scalar.text.debugDescription
        return "\(text)\(start)"
    case .sequence(let items):
        return "[" + items.map(outline).joined(separator: ", ") + "]"
    case .mapping(let members):
        return "{"
            + members.map {
                "\($0.key)@\($0.keyLocation.line):\($0.keyLocation.column): \(outline($0.node))"
            }
            .joined(separator: ", ") + "}"
    }
}
