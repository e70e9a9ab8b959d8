/// What may be written for a key, as data: a JSON Schema can be made from it.
indirect enum ValueSchema: Sendable {
    case text(format: TextFormat)
    /// Any scalar but null: what is meant is its text.
    case scalar
    case flag
    case integer(ClosedRange<Int>)
    case number
    case duration
    /// At most so many bytes.
    case size(Int)
    case share
    case choice([String])
    case list(ValueSchema)
    case oneOrMany(ValueSchema)
    /// Any keys, the same kind of value for each.
    case map(ValueSchema)
    /// The keys are the names of headers.
    case headers(ValueSchema)
    case either([ValueSchema])
    case block(BlockSchema)
    case anything
}

/// The keys of a block; looked up when asked for, since blocks may contain themselves.
struct BlockSchema: Sendable {
    /// Of the type that is read: `Endpoint`.
    let name: String
    let keys: @Sendable () -> [KeySchema]
    /// Groups of keys, exactly one of each group must be there.
    let alternatives: [[String]]
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

/// What holds where a key is not written.
enum KeyDefault: Sendable {
    /// What the key is about does not happen.
    case none
    case value(JSONTree)
    /// In words: another key's value, or what depends on others.
    case words(String)

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
    static func key(_ path: String) -> KeyDefault { .words("that of `\(path)`") }
}
