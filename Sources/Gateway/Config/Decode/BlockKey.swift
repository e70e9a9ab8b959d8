import YAMLReader

/// One key of a block: its name, the schema of its value, one line of documentation, and the
/// function that decodes it. The tables of keys define the configuration language.
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

    /// A key for a value with its source location.
    static func value<Value>(
        _ name: String, _ path: any WritableKeyPath<Block, Located<Value>?> & Sendable,
        _ reader: ValueReader<Value>, isRequired: Bool = false,
        default fallback: KeyDefault = .none,
        _ doc: String
    ) -> BlockKey {
        BlockKey(name, reader.schema, isRequired: isRequired, default: fallback, doc) {
            member, block, decoder in
            guard let value = reader.read(member.node, &decoder) else { return }
            block[keyPath: path] = Located(value, of: member.node)
        }
    }

    /// A key for a nested block, which stores its own source location.
    static func block<Value: PlainBlock>(
        _ name: String, _ path: any WritableKeyPath<Block, Value?> & Sendable,
        isRequired: Bool = false, default fallback: KeyDefault = .none, _ doc: String
    ) -> BlockKey {
        let reader = ValueReader<Value>.block
        return BlockKey(
            name, reader.schema, isRequired: isRequired, default: fallback, doc
        ) { member, block, decoder in
            block[keyPath: path] = reader.read(member.node, &decoder)
        }
    }

    /// A key for several values, each with its own source location.
    static func list<Value>(
        _ name: String, _ path: any WritableKeyPath<Block, [Value]> & Sendable,
        _ reader: ValueReader<[Value]>, isRequired: Bool = false,
        default fallback: KeyDefault = .none, _ doc: String
    ) -> BlockKey {
        BlockKey(
            name, reader.schema, isRequired: isRequired, default: fallback, doc
        ) { member, block, decoder in
            guard let values = reader.read(member.node, &decoder) else { return }
            block[keyPath: path] = values
        }
    }
}

/// A mapping with known keys.
protocol ConfigBlock: Sendable {
    static var keys: [BlockKey<Self>] { get }

    /// Groups of keys; exactly one key of each group must be present.
    static var alternatives: [[String]] { get }

    /// A key of such a group that may also stand beside another one of it.
    static var companion: (key: String, of: String)? { get }
}

extension ConfigBlock {
    static var alternatives: [[String]] { [] }
    static var companion: (key: String, of: String)? { nil }

    static var blockSchema: BlockSchema {
        BlockSchema(
            name: "\(Self.self)", keys: { keys.map(\.schema) }, alternatives: alternatives,
            companion: companion)
    }

    static var schema: ValueSchema { .block(blockSchema) }
}

/// A block under a fixed key or in a list.
protocol PlainBlock: ConfigBlock {
    init(location: SourceLocation)
}

/// A block whose key is chosen by the operator: its name.
protocol NamedBlock: ConfigBlock {
    /// The noun for it in messages: `call`, `backend`.
    static var noun: String { get }

    /// Why a name is not allowed; nil if it is.
    static func problem(withName name: String) -> String?

    init(name: Located<String>, location: SourceLocation)
}
