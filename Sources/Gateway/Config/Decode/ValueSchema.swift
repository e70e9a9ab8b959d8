/// The allowed values of a key, as data from which a JSON Schema is generated.
indirect enum ValueSchema: Sendable {
    case text(format: TextFormat)
    /// Any scalar but null, read as its text.
    case scalar
    case flag
    case integer(ClosedRange<Int>)
    case number
    case duration
    /// A number of bytes, at most this one.
    case size(Int)
    case share
    /// A share that may be `0%`.
    case shareOrZero
    case choice([String])
    case list(ValueSchema)
    case oneOrMany(ValueSchema)
    /// Any keys, with values of the same schema.
    case map(ValueSchema)
    /// The keys are the names of headers.
    case headers(ValueSchema)
    case either([ValueSchema])
    case block(BlockSchema)
    case anything
}

/// The keys of a block, computed on demand because blocks may contain themselves.
struct BlockSchema: Sendable {
    /// The name of the type that is decoded: `Endpoint`.
    let name: String
    let keys: @Sendable () -> [KeySchema]
    /// Groups of keys; exactly one key of each group must be present.
    let alternatives: [[String]]
    /// A key of such a group that may also stand beside another one of it.
    let companion: (key: String, of: String)?
}

extension ValueSchema {
    /// `; write 'version: 1'` for a key with a single possible value.
    func hint(for key: String) -> String {
        guard case .integer(let range) = self, range.count == 1 else { return "" }
        return "; write '\(key): \(range.lowerBound)'"
    }
}

/// One key of a block.
struct KeySchema: Sendable {
    let name: String
    /// One line for the reference and for editors.
    let doc: String
    let value: ValueSchema
    let isRequired: Bool
    let fallback: KeyDefault
}

/// The value of a key that is not written.
enum KeyDefault: Sendable {
    /// No default: the feature is off.
    case none
    case value(JSONTree)
    /// A description: the value of another key, or a value that depends on others.
    case description(String)

    static func text(_ text: String) -> KeyDefault { .value(.text(text)) }
    static func time(_ duration: Duration) -> KeyDefault { .text(duration.spelled) }
    static func size(_ bytes: Int) -> KeyDefault { .text(Quantity.spelled(bytes: bytes)) }
    static func number(_ number: Int) -> KeyDefault { .value(.raw("\(number)")) }
    static func flag(_ flag: Bool) -> KeyDefault { .value(.raw("\(flag)")) }
    static func choice(_ choice: some RawRepresentable<String>) -> KeyDefault {
        .text(choice.rawValue)
    }
    static func texts(_ texts: [String]) -> KeyDefault { .value(.texts(texts)) }

    /// The value of another key, by its path in the file: `defaults.deadline`.
    static func key(_ path: String) -> KeyDefault { .description("`\(path)`") }
}
