import YAMLReader

/// One key of a block: its name, what may be written for it, one line of documentation, and what
/// becomes of it. The tables of these are the configuration language.
struct BlockKey<Block: ConfigBlock>: Sendable {
    typealias Decode = @Sendable (DocumentNode.Member, inout Block, inout ConfigDecoder) -> Void

    let schema: KeySchema
    let decode: Decode

    var name: String { schema.name }

    init(
        _ name: String, _ value: ValueSchema, isRequired: Bool = false,
        default fallback: KeyDefault = .none, _ doc: String, decode: @escaping Decode
    ) {
        schema = KeySchema(
            name: name, doc: doc, value: value, isRequired: isRequired, fallback: fallback)
        self.decode = decode
    }

    /// A value that keeps its place.
    static func value<Value>(
        _ name: String, _ path: any WritableKeyPath<Block, Located<Value>?> & Sendable,
        _ reading: Reading<Value>, isRequired: Bool = false, default fallback: KeyDefault = .none,
        _ doc: String
    ) -> BlockKey {
        BlockKey(name, reading.schema, isRequired: isRequired, default: fallback, doc) {
            member, block, decoder in
            guard let value = reading.read(member.node, &decoder) else { return }
            block[keyPath: path] = Located(value, of: member.node)
        }
    }

    /// A block inside of this one; it knows its own place.
    static func block<Value: PlainBlock>(
        _ name: String, _ path: any WritableKeyPath<Block, Value?> & Sendable,
        default fallback: KeyDefault = .none, _ doc: String
    ) -> BlockKey {
        let reading = Reading<Value>.block
        return BlockKey(name, reading.schema, default: fallback, doc) { member, block, decoder in
            block[keyPath: path] = reading.read(member.node, &decoder)
        }
    }

    /// Several things, each with its own place.
    static func list<Value>(
        _ name: String, _ path: any WritableKeyPath<Block, [Value]> & Sendable,
        _ reading: Reading<[Value]>, isRequired: Bool = false, _ doc: String
    ) -> BlockKey {
        BlockKey(name, reading.schema, isRequired: isRequired, doc) { member, block, decoder in
            guard let values = reading.read(member.node, &decoder) else { return }
            block[keyPath: path] = values
        }
    }
}

/// A mapping with known keys.
protocol ConfigBlock: Sendable {
    static var keys: [BlockKey<Self>] { get }

    /// Groups of keys, exactly one of each group must be there.
    static var alternatives: [[String]] { get }
}

extension ConfigBlock {
    static var alternatives: [[String]] { [] }

    static var blockSchema: BlockSchema {
        BlockSchema(name: "\(Self.self)", keys: { keys.map(\.schema) }, alternatives: alternatives)
    }

    static var schema: ValueSchema { .block(blockSchema) }
}

/// A block that stands under a fixed key, or in a list.
protocol PlainBlock: ConfigBlock {
    init(location: SourceLocation)
}

/// A block whose key is its name.
protocol NamedBlock: ConfigBlock {
    /// What problems call it: `call`, `backend`.
    static var word: String { get }

    /// What a name must look like, for problems; nil if any text will do.
    static func problem(withName name: String) -> String?

    init(name: Located<String>, location: SourceLocation)
}
