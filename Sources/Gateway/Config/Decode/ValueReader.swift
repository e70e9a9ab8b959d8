import YAMLReader

/// The schema of one type of value, and the function that reads it.
///
/// `read` reports an error and returns nil, so that the rest of the file is still read.
struct ValueReader<Value: Sendable>: Sendable {
    let schema: ValueSchema
    let read: @Sendable (DocumentNode, inout ConfigDecoder) -> Value?

    /// A value that is parsed from a scalar's text; a refusal of `parse` continues after the key.
    static func scalar(
        _ schema: ValueSchema, expected message: String,
        _ parse: @escaping @Sendable (ExpandedScalar) throws(Refusal) -> Value
    ) -> ValueReader {
        ValueReader(schema: schema) { node, decoder in
            guard let scalar = decoder.scalar(node, expected: message) else { return nil }
            do throws(Refusal) {
                return try parse(scalar)
            } catch {
                decoder.refuse(scalar, error)
                return nil
            }
        }
    }
}

extension ValueReader where Value: PlainBlock {
    static var block: ValueReader {
        ValueReader(schema: Value.schema) { node, decoder in
            decoder.block(node, scope: decoder.innerScope)
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func block<Block: PlainBlock>(
        _ node: DocumentNode, scope: String
    ) -> Block? {
        var block = Block(location: node.location)
        return decode(node, into: &block, scope: scope) ? block : nil
    }
}

// MARK: Collections

extension ValueReader {
    /// A list; every entry has its source location.
    static func list<Item>(of item: ValueReader<Item>) -> ValueReader
    where Value == [Located<Item>] {
        ValueReader(schema: .list(item.schema)) { node, decoder in
            guard case .sequence(let nodes) = node.content else {
                decoder.fail(node.location, "must be a list\(node.listHint)")
                return nil
            }
            return nodes.compactMap { node in
                item.read(node, &decoder).map { Located($0, of: node) }
            }
        }
    }

    /// A list that must not be empty.
    static func filledList<Item>(of item: ValueReader<Item>) -> ValueReader
    where Value == [Located<Item>] {
        let list = ValueReader.list(of: item)
        return ValueReader(schema: list.schema) { node, decoder in
            if case .sequence([]) = node.content {
                decoder.fail(node.location, "must not be empty")
                return nil
            }
            return list.read(node, &decoder)
        }
    }

    /// A list, or a single entry.
    static func oneOrMany<Item>(of item: ValueReader<Item>) -> ValueReader
    where Value == [Located<Item>] {
        let list = ValueReader.list(of: item)
        return ValueReader(schema: .oneOrMany(item.schema)) { node, decoder in
            if case .sequence = node.content { return list.read(node, &decoder) }
            return item.read(node, &decoder).map { [Located($0, of: node)] }
        }
    }

    /// A list of blocks; `title` returns the name of a block in messages.
    static func blocks<Block: PlainBlock>(
        titled title: @escaping @Sendable (DocumentNode) -> String
    ) -> ValueReader where Value == [Block] {
        ValueReader(schema: .list(Block.schema)) { node, decoder in
            guard case .sequence(let nodes) = node.content else {
                decoder.fail(node.location, "must be a list with a '- ' before each entry")
                return nil
            }
            return nodes.compactMap { decoder.block($0, scope: title($0)) }
        }
    }

    /// Blocks under their names, in file order.
    static func named<Block: NamedBlock>() -> ValueReader where Value == [Block] {
        ValueReader(schema: .map(Block.schema)) { node, decoder in
            decoder.members(of: node)?.compactMap { member in
                if let problem = Block.problem(withName: member.key) {
                    decoder.problems.error(at: member.keyLocation, problem)
                }
                var block = Block(
                    name: Located(member.key, at: member.keyLocation),
                    location: member.node.location)
                decoder.decode(
                    member.node, into: &block, scope: "\(Block.noun) '\(member.key)'")
                return block
            }
        }
    }

    /// Values under keys that the operator chooses, in file order.
    static func map<Item, Entry>(
        of item: ValueReader<Item>,
        checkingKey check: @escaping @Sendable (String) throws(Refusal) -> Void,
        _ entry: @escaping @Sendable (Located<String>, Located<Item>) -> Entry
    ) -> ValueReader where Value == [Entry] {
        ValueReader(schema: .map(item.schema)) { node, decoder in
            decoder.members(of: node)?.compactMap { member in
                do throws(Refusal) {
                    try check(member.key)
                } catch {
                    decoder.fail(member.keyLocation, error.message)
                }
                return item.read(member.node, &decoder).map { value in
                    entry(
                        Located(member.key, at: member.keyLocation),
                        Located(value, of: member.node))
                }
            }
        }
    }

    /// Values whose keys are names of headers.
    static func headers<Item, Entry>(
        of item: ValueReader<Item>,
        _ entry: @escaping @Sendable (Located<String>, Located<Item>) -> Entry
    ) -> ValueReader where Value == [Entry] {
        let map = ValueReader.map(of: item, checkingKey: HeaderSyntax.check(name:), entry)
        return ValueReader(schema: .headers(item.schema), read: map.read)
    }

    /// The same values, transformed.
    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> ValueReader<Other> {
        ValueReader<Other>(schema: schema) { [read] node, decoder in
            read(node, &decoder).map(transform)
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func members(of node: DocumentNode) -> [DocumentNode.Member]? {
        guard case .mapping(let members) = node.content else {
            let isList = if case .sequence = node.content { true } else { false }
            fail(
                node.location,
                "must be a mapping of names to values"
                    + (isList ? ", not a list: write 'name: value' without '- '" : ""))
            return nil
        }
        return withoutDuplicates(members)
    }
}

extension DocumentNode {
    /// A text as it would stand in a list; a text with spaces or references may need quotes there.
    fileprivate var listHint: String {
        guard case .scalar(let scalar) = content, HeaderSyntax.isName(scalar.text) else {
            return ", such as [a, b]"
        }
        return ": [\(scalar.text)]"
    }
}
