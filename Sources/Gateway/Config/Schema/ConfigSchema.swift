import Basics
import JSONText

/// The configuration language as a JSON Schema (draft 2020-12), for editors. It is generated from
/// the decoder's tables, so both always have the same keys.
package enum ConfigSchema {
    /// The schema, indented, with a line end.
    package static var text: String {
        var definitions = Definitions()
        var members: [(String, JSONTree)] = [
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("title", .text("Tributary configuration")),
        ]
        members += definitions.members(of: Config.blockSchema)
        members.append(("$defs", .object(definitions.all())))
        return JSONTree.object(members).text + "\n"
    }
}

/// The referenced blocks; each is defined once, because blocks may contain themselves.
private struct Definitions {
    private var waiting: [BlockSchema] = []
    private var known: Set<String> = []

    /// All blocks that were referenced, directly or by other blocks.
    mutating func all() -> [(String, JSONTree)] {
        var definitions = [("variable", Self.variable)]
        while !waiting.isEmpty {
            let block = waiting.removeFirst()
            definitions.append((block.name, .object(members(of: block))))
        }
        return definitions
    }

    /// `${NAME}` is allowed instead of any scalar value.
    private static let variable = JSONTree.object([
        ("type", .text("string")), ("pattern", .text(#"\$\{.+\}"#)),
        ("description", .text("${NAME}, ${NAME:-default} or ${file:/path}")),
    ])

    mutating func members(of block: BlockSchema) -> [(String, JSONTree)] {
        let keys = block.keys()
        var properties: [(String, JSONTree)] = []
        for key in keys { properties.append((key.name, schema(of: key))) }
        var members: [(String, JSONTree)] = [
            ("type", .text("object")), ("additionalProperties", .raw("false")),
        ]
        let required = keys.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members.append(("required", .texts(required))) }
        if !block.alternatives.isEmpty {
            members.append(
                (
                    "allOf",
                    .list(block.alternatives.map { Self.exactlyOne(of: $0, block.companion) })
                ))
        }
        members.append(("properties", .object(properties)))
        return members
    }

    /// - Parameter companion: a key that may also stand beside one of the others
    private static func exactlyOne(
        of group: [String], _ companion: (key: String, of: String)?
    ) -> JSONTree {
        let choices = group.map { key in
            let needed = ("required", JSONTree.texts([key]))
            guard key == companion?.key else { return JSONTree.object([needed]) }
            let others = group.filter { $0 != key }
            return .object([needed, ("not", anyOf(others))])
        }
        guard let companion else { return .object([("oneOf", .list(choices))]) }
        let excluded = group.filter { $0 != companion.key && $0 != companion.of }
        return .object([
            ("oneOf", .list(choices)),
            (
                "not",
                .object([
                    ("required", .texts([companion.key])), ("anyOf", requiredOne(of: excluded)),
                ])
            ),
        ])
    }

    private static func anyOf(_ keys: [String]) -> JSONTree {
        .object([("anyOf", requiredOne(of: keys))])
    }

    private static func requiredOne(of keys: [String]) -> JSONTree {
        .list(keys.map { .object([("required", .texts([$0]))]) })
    }

    private mutating func schema(of key: KeySchema) -> JSONTree {
        var schema = [("description", JSONTree.text(key.doc))]
        if case .value(let fallback) = key.fallback { schema.append(("default", fallback)) }
        return .object(schema + members(of: key.value))
    }

    /// The recursion is as deep as the nesting of a value's type, which the tables bound; blocks
    /// are only referenced.
    private mutating func members(of value: ValueSchema) -> [(String, JSONTree)] {
        switch value {
        case .text(.regex): return [("type", .text("string")), ("format", .text("regex"))]
        case .text(let format):
            guard let pattern = format.pattern else { return [("type", .text("string"))] }
            return orVariable([("type", .text("string")), ("pattern", .text(pattern))])
        case .scalar: return [("type", .texts(["string", "number", "boolean"]))]
        case .flag: return orVariable([("type", .text("boolean"))])
        case .number: return orVariable([("type", .text("number"))])
        case .integer(let range):
            let most =
                range.upperBound == .max ? [] : [("maximum", JSONTree.raw("\(range.upperBound)"))]
            return orVariable(
                [("type", .text("integer")), ("minimum", .raw("\(range.lowerBound)"))] + most)
        case .duration: return orVariable(quantity(.time))
        case .size(let max): return orVariable(quantity(.size(upTo: max)))
        case .share:
            // More than 0 and at most 100 %.
            return orVariable(
                share(#"^(0*100(\.0+)?|0*[1-9][0-9]?(\.[0-9]+)?|0+\.[0-9]*[1-9][0-9]*)%$"#))
        case .shareOrZero:
            return orVariable(share(#"^(0*100(\.0+)?|0*[0-9]?[0-9](\.[0-9]+)?)%$"#))
        case .choice(let names):
            // In YAML, an unquoted null is not a text.
            let null: [JSONTree] = names.contains("null") ? [.raw("null")] : []
            return orVariable([("enum", .list(names.map { .text($0) } + null))])
        case .list(let item): return list(of: item)
        case .oneOrMany(let item):
            return [("anyOf", .list([.object(members(of: item)), .object(list(of: item))]))]
        case .map(let item):
            return [
                ("type", .text("object")), ("additionalProperties", .object(members(of: item))),
            ]
        case .headers(let item):
            let name: [(String, JSONTree)] = [
                ("pattern", .text(TextFormat.headerName.pattern ?? ""))
            ]
            return [
                ("type", .text("object")), ("propertyNames", .object(name)),
                ("additionalProperties", .object(members(of: item))),
            ]
        case .either(let values):
            var choices: [JSONTree] = []
            for value in values { choices.append(.object(members(of: value))) }
            return [("anyOf", .list(choices))]
        case .block(let block):
            if known.insert(block.name).inserted { waiting.append(block) }
            return [("$ref", .text("#/$defs/\(block.name)"))]
        case .anything: return []
        }
    }

    private func share(_ pattern: String) -> [(String, JSONTree)] {
        [
            ("type", .text("string")), ("pattern", .text(pattern)),
            ("examples", .texts(["50%"])),
        ]
    }

    private mutating func list(of item: ValueSchema) -> [(String, JSONTree)] {
        [("type", .text("array")), ("items", .object(members(of: item)))]
    }

    private func quantity(_ units: Quantity.Units) -> [(String, JSONTree)] {
        let names = units.names.map(\.name).joined(separator: "|")
        return [
            ("type", .text("string")), ("pattern", .text("^[0-9]+(\\.[0-9]+)?(\(names))$")),
            ("examples", .texts(units.example.split(separator: " ").compactMap(Self.example))),
        ]
    }

    /// Of `300ms, 2s, 5m or 1h`, the quantities.
    private static func example(_ word: Substring) -> String? {
        guard word.first?.isNumber == true else { return nil }
        return String(word.last == "," ? word.dropLast() : word)
    }

    private func orVariable(_ members: [(String, JSONTree)]) -> [(String, JSONTree)] {
        [("anyOf", .list([.object(members), .object([("$ref", .text("#/$defs/variable"))])]))]
    }
}
