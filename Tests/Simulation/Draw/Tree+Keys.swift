import Rehearsal

/// A block of a drawn configuration: its keys and values, as they are written. The models read its keys by name.
extension Tree {
    /// A value in the style of JSON, but its strings need no quotes.
    init(written text: String) { self = Tree(reading: Array(text.utf8)) ?? .scalar(text) }

    static let block = Tree.object([])

    static func list(_ texts: [String]) -> Tree { .array(texts.map { .scalar($0) }) }

    var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// Sets a key behind the others, or removes it.
    mutating func set(_ key: String, _ value: Tree?) {
        self = .object(
            members.filter { $0.key != key }
                + (value.map { [Member(key: key, value: $0)] } ?? []))
    }

    func setting(_ key: String, _ value: Tree?) -> Tree {
        var tree = self
        tree.set(key, value)
        return tree
    }

    /// The number of a key, without its unit; nil if the key is not written.
    subscript(number key: String) -> Int? {
        guard case .scalar(let text)? = self[key] else { return nil }
        return Int(text.prefix { $0.isNumber })
    }

    /// The text of a scalar, without quotes.
    var plain: String {
        if let string { return string }
        if case .scalar(let text) = self { return text }
        return written
    }

    subscript(text key: String) -> String? { self[key]?.plain }

    /// The texts of a list; empty if the key is not written.
    subscript(texts key: String) -> [String] { self[key]?.elements?.map(\.plain) ?? [] }

    // MARK: YAML

    /// The text in YAML: what is short has one line.
    func yaml(_ indent: String = "") -> String {
        let line = flow
        let deeper = indent + "  "
        switch self {
        case .object(let members) where line.utf8.count > 90 && !members.isEmpty:
            return "\n"
                + members.map { "\(indent)\($0.name):\($0.value.yaml(deeper))" }.joined()
        case .array(let elements) where line.utf8.count > 90:
            return "\n" + elements.map { "\(indent)-\($0.yaml(deeper))" }.joined()
        case .scalar, .array, .object: return " \(line)\n"
        }
    }

    private var flow: String {
        switch self {
        case .scalar(let text): text
        case .array(let elements): "[\(elements.map(\.flow).joined(separator: ", "))]"
        case .object(let members):
            "{ \(members.map { "\($0.name): \($0.value.flow)" }.joined(separator: ", ")) }"
        }
    }
}

extension Tree.Member {
    /// Paths of `rename`, and its `*`, need quotes.
    fileprivate var name: String { key.contains("[") || key == "*" ? "\"\(key)\"" : key }
}
