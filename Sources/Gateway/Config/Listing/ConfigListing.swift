import Basics
import YAMLReader

/// A configuration as it was written, as one JSON document: with the defaults of absent keys, with
/// `${NAME}` instead of the values of variables and files, and without secrets.
///
/// The key tables decide how a value is shown, so a new key is shown, and masked, by its kind. Keys
/// whose default is the value of another key are absent.
struct ConfigListing {
    /// Blocks that have an effect with their defaults although they are absent.
    private static let effectiveBlocks: Set<String> = [
        "log", "limits", "drain", "clients", "defaults", "keepalive",
    ]

    /// - Parameter documents: the main file, and then the included ones
    static func tree(of documents: [DocumentNode]) -> JSONTree? {
        guard let main = documents.first, case .mapping(var members) = main.content else {
            return nil
        }
        for part in documents.dropFirst() {
            guard case .mapping(let added) = part.content else { continue }
            for member in added { Self.merge(member, into: &members) }
        }
        let root = DocumentNode(location: main.location, content: .mapping(members))
        return tree(root, Config.schema)
    }

    /// Appends the backends or endpoints of an included file to those before.
    private static func merge(
        _ member: DocumentNode.Member, into members: inout [DocumentNode.Member]
    ) {
        guard let index = members.firstIndex(where: { $0.key == member.key }) else {
            members.append(member)
            return
        }
        let former = members[index]
        let content: DocumentNode.Content
        switch (former.node.content, member.node.content) {
        case (.mapping(let own), .mapping(let more)): content = .mapping(own + more)
        case (.sequence(let own), .sequence(let more)): content = .sequence(own + more)
        default: return
        }
        members[index] = DocumentNode.Member(
            key: former.key, keyLocation: former.keyLocation,
            node: DocumentNode(location: former.node.location, content: content))
    }

    // MARK: Values

    /// The recursion is as deep as the document, which its reader bounds.
    private static func tree(_ node: DocumentNode, _ schema: ValueSchema) -> JSONTree {
        switch (schema, node.content) {
        case (.block(let block), .mapping(let members)): return tree(members, block)
        case (.list(let item), .sequence(let nodes)), (.oneOrMany(let item), .sequence(let nodes)):
            return .list(nodes.map { tree($0, item) })
        case (.oneOrMany(let item), _): return tree(node, item)
        case (.map(let item), .mapping(let members)):
            return .object(members.map { ($0.key, tree($0.node, item)) })
        case (.headers, .mapping(let members)):
            return .object(members.map { ($0.key, headerValue($0)) })
        case (.either(let choices), _):
            guard let choice = choices.first(where: { accepts($0, node) }) else { break }
            return tree(node, choice)
        case (.text(.secret), _), (.text(.password), _), (.text(.sharedSecret), _):
            return .text(SecretMask.text)
        case (.text(.keySetURL), .scalar(let scalar)):
            var mask = QueryMask()
            return .text(mask.masked(scalar.text, hasReferences: false))
        case (.text(.pathWithReferences), .scalar(let scalar)):
            return .text(QueryMask.masked(scalar.text))
        case (.anything, _), (_, .mapping), (_, .sequence): break
        case (_, .scalar(let scalar)): return shown(scalar)
        }
        return masked(node)
    }

    /// Whether a value has the shape of a choice; the choices of the key tables differ in that.
    private static func accepts(_ schema: ValueSchema, _ node: DocumentNode) -> Bool {
        switch (schema, node.content) {
        case (.block, .mapping), (.map, .mapping), (.headers, .mapping), (.list, .sequence),
            (.oneOrMany, _), (.anything, _):
            true
        case (.block, _), (.map, _), (.headers, _), (.list, _), (_, .mapping), (_, .sequence):
            false
        case (_, .scalar): true
        }
    }

    private static func tree(
        _ members: [DocumentNode.Member], _ block: BlockSchema
    ) -> JSONTree {
        var shown: [(String, JSONTree)] = []
        for key in block.keys() {
            if let member = members.first(where: { $0.key == key.name }) {
                shown.append((key.name, tree(member.node, key.value)))
            } else if let fallback = fallback(of: key) {
                shown.append((key.name, fallback))
            }
        }
        return .object(shown)
    }

    private static func fallback(of key: KeySchema) -> JSONTree? {
        if case .value(let value) = key.fallback { return value }
        guard effectiveBlocks.contains(key.name), case .block(let block) = key.value else {
            return nil
        }
        // One level: no block has such a block twice inside of itself.
        return tree([], block)
    }

    private static func headerValue(_ member: DocumentNode.Member) -> JSONTree {
        guard case .scalar(let scalar) = member.node.content else { return masked(member.node) }
        return .text(SecretMask.headerValue(scalar.text, of: member.key))
    }

    private static func shown(_ scalar: DocumentNode.Scalar) -> JSONTree {
        switch scalar.type {
        case .null: .raw("null")
        case .bool(let value): .raw(value ? "true" : "false")
        case .integer, .decimal:
            JSONNumber.spelling(of: scalar.text, type: scalar.type).map { .raw($0) }
                ?? .text(scalar.text)
        case .string: .text(scalar.text)
        }
    }

    /// A value of unknown meaning, such as the body of a call: its literal texts are masked. The
    /// recursion is as deep as the document, which its reader bounds.
    private static func masked(_ node: DocumentNode) -> JSONTree {
        switch node.content {
        case .mapping(let members): .object(members.map { ($0.key, masked($0.node)) })
        case .sequence(let nodes): .list(nodes.map { masked($0) })
        case .scalar(let scalar) where scalar.type == .string:
            .text(SecretMask.masked(scalar.text))
        case .scalar(let scalar): shown(scalar)
        }
    }
}
