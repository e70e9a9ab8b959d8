import Basics
import JSONText
import YAMLReader

/// Access to the values of a foreign configuration file: a missing or unexpected value is nil.
extension DocumentNode {
    subscript(key: String) -> DocumentNode? { member(key)?.node }

    func member(_ key: String) -> Member? { members.last { $0.key == key } }

    /// The location of the value of a key, or of the whole block without it.
    func location(of key: String) -> SourceLocation { self[key]?.location ?? location }

    var members: [Member] {
        if case .mapping(let members) = content { members } else { [] }
    }

    var elements: [DocumentNode] {
        if case .sequence(let elements) = content { elements } else { [] }
    }

    private var scalar: Scalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    var text: String? { scalar?.type == .string ? scalar?.text : nil }

    var extras: [Member] { self["extra_config"]?.members ?? [] }

    func extra(_ name: String) -> Member? { extras.last { $0.key == name } }

    /// A text with at least one character.
    var name: String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    var texts: [String] { elements.compactMap(\.text) }

    /// Whether the key is `true`.
    func has(_ key: String) -> Bool { self[key]?.flag == true }

    /// KrakenD accepts `"true"` for `true`, and so on.
    var flag: Bool? {
        switch scalar?.type {
        case .bool(let flag): flag
        case .string:
            switch text?.lowercased() {
            case "true", "t", "1": true
            case "false", "f", "0": false
            default: nil
            }
        case .integer, .decimal, .null, nil: nil
        }
    }

    /// KrakenD accepts `"3"` for `3`.
    var integer: Int? {
        switch scalar?.type {
        case .integer(let value): value
        case .string: text.flatMap { Int($0) }
        case .bool, .decimal, .null, nil: nil
        }
    }

    /// A number in its original spelling.
    var number: String? {
        switch scalar?.type {
        case .integer, .decimal: scalar?.text
        case .null, .bool, .string, nil: nil
        }
    }

    /// A duration in Go's notation: `1m30s`, `800ms`; whole milliseconds, at least one. Nil for
    /// zero.
    var goDuration: Duration? {
        guard let text else { return nil }
        var rest = text[...]
        var nanoseconds = 0.0
        while !rest.isEmpty {
            let number = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !$0.isNumber && $0 != "." }
            rest = rest.dropFirst(unit.count)
            let worths = [
                "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12,
            ]
            guard let amount = Double(number), let worth = worths[String(unit)] else { return nil }
            nanoseconds += amount * worth
        }
        guard nanoseconds > 0, nanoseconds < 1e17 else { return nil }
        return .milliseconds(Int64(max(1, nanoseconds / 1e6)))
    }

    /// The value as JSON in one line, with `${` escaped in texts, as a configuration requires. The
    /// recursion is as deep as a document may be.
    var json: String {
        switch content {
        case .mapping(let members):
            "{"
                + members.map { "\(String(jsonQuoting: $0.key)): \($0.node.json)" }.joined(
                    separator: ", ")
                + "}"
        case .sequence(let elements):
            "[" + elements.map(\.json).joined(separator: ", ") + "]"
        case .scalar(let scalar):
            scalar.isPlain
                ? scalar.text : String(jsonQuoting: scalar.text.replacing("${", with: "$${"))
        }
    }
}
