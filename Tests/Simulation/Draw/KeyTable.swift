import Gateway
import Rehearsal

/// The keys of one block of the configuration language, with the types of their values: from the JSON Schema
/// that the gateway generates from its tables of keys.
struct KeyTable: Sendable {
    private let block: String
    /// The alternatives of each key.
    private let types: [String: [ValueType]]

    enum ValueType: Sendable {
        case number(unit: String)
        case flag
        case choice([String])
        case block(String)
    }

    /// The table of a block, by its name in the schema; that of the file has none.
    static func of(_ block: String) -> KeyTable {
        guard let table = all[block] else { preconditionFailure("no block '\(block)'") }
        return table
    }

    private static let all: [String: KeyTable] = {
        guard let schema = Tree(reading: Array(ConfigSchema.text.utf8)) else { return [:] }
        let blocks = [Tree.Member(key: "", value: schema)] + (schema["$defs"]?.members ?? [])
        return Dictionary(
            uniqueKeysWithValues: blocks.map { ($0.key, KeyTable($0.key, $0.value)) })
    }()

    private init(_ block: String, _ schema: Tree) {
        self.block = block
        types = Dictionary(
            uniqueKeysWithValues: (schema["properties"]?.members ?? []).map {
                ($0.key, ValueType.alternatives(in: $0.value))
            })
    }

    func types(of key: String) -> [ValueType] {
        guard let types = types[key] else { preconditionFailure("no key '\(key)' in '\(block)'") }
        return types
    }
}

extension KeyTable.ValueType {
    /// Without lists, and texts in a syntax of their own.
    fileprivate static func alternatives(in schema: Tree) -> [Self] {
        let type = schema["type"]?.string
        if let block = schema["$ref"]?.string?.split(separator: "/").last {
            return block == "variable" ? [] : [.block(String(block))]
        }
        if let choices = schema["enum"]?.elements { return [.choice(choices.compactMap(\.string))] }
        if let pattern = schema["pattern"]?.string {
            return units.filter { pattern.hasSuffix($0.end) }.map { .number(unit: $0.unit) }
        }
        if type == "boolean" { return [.flag] }
        if type == "integer" || type == "number" { return [.number(unit: "")] }
        return (schema["anyOf"]?.elements ?? []).flatMap { alternatives(in: $0) }
    }

    private static let units = [
        (end: "|h)$", unit: "ms"), (end: "|GiB)$", unit: "B"), (end: ")%$", unit: "%"),
    ]
}

/// How often a drawn block has a key, and with which values. The table of keys has their types and units.
struct KeyWeight: Sendable {
    fileprivate let key: String
    fileprivate let weight: Double
    fileprivate let values: Values

    fileprivate enum Values: Sendable {
        /// Each choice of the table; `true` for a flag.
        case ofTable
        case numbers([Int])
        case range(ClosedRange<Int>)
        /// As they are written.
        case texts([String])
        case block([KeyWeight])
    }

    static func key(_ key: String, _ weight: Double) -> KeyWeight {
        KeyWeight(key: key, weight: weight, values: .ofTable)
    }

    static func key(_ key: String, _ weight: Double, _ range: ClosedRange<Int>) -> KeyWeight {
        KeyWeight(key: key, weight: weight, values: .range(range))
    }

    static func key(_ key: String, _ weight: Double, _ numbers: [Int]) -> KeyWeight {
        KeyWeight(key: key, weight: weight, values: .numbers(numbers))
    }

    static func key(_ key: String, _ weight: Double, of texts: [String]) -> KeyWeight {
        KeyWeight(key: key, weight: weight, values: .texts(texts))
    }

    static func block(_ key: String, _ weight: Double, _ keys: [KeyWeight]) -> KeyWeight {
        KeyWeight(key: key, weight: weight, values: .block(keys))
    }
}

extension RandomSource {
    /// Draws the keys of a block. A block without keys is not written.
    func keys(_ weights: [KeyWeight], of block: String) -> Tree {
        .object(
            weights.compactMap { weight in
                guard chance(weight.weight) else { return nil }
                let value = value(of: weight, in: block)
                return value == .block ? nil : Tree.Member(key: weight.key, value: value)
            })
    }

    private func value(of weight: KeyWeight, in block: String) -> Tree {
        for type in KeyTable.of(block).types(of: weight.key) {
            switch (weight.values, type) {
            case (.ofTable, .flag): return .scalar("true")
            case (.ofTable, .choice(let choices)): return .scalar(pick(choices))
            case (.numbers(let numbers), .number(let unit)):
                return .scalar("\(pick(numbers))\(unit)")
            case (.range(let range), .number(let unit)): return .scalar("\(number(range))\(unit)")
            case (.block(let weights), .block(let block)): return keys(weights, of: block)
            default: continue
            }
        }
        guard case .texts(let texts) = weight.values else {
            preconditionFailure("'\(weight.key)' in '\(block)' has no such values")
        }
        return Tree(written: pick(texts))
    }
}
