import Basics
import JSONText
import YAMLReader

/// Looking into a file whose keys are not ours: what is not there, or not as expected, is nil.
extension DocumentNode {
    subscript(key: String) -> DocumentNode? { members.last { $0.key == key }?.node }

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

    var texts: [String] { elements.compactMap(\.text) }

    var flag: Bool? { if case .bool(let flag)? = scalar?.type { flag } else { nil } }

    var integer: Int? { if case .integer(let value)? = scalar?.type { value } else { nil } }

    /// A number as it was written.
    var number: String? {
        switch scalar?.type {
        case .integer, .decimal: scalar?.text
        case .null, .bool, .string, nil: nil
        }
    }

    /// As Go writes durations: `1m30s`, `800ms`; whole milliseconds, at least one. Nil for none at all.
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

    /// The value as JSON in one line. It recurses as deep as a document may be.
    var json: String {
        switch content {
        case .mapping(let members):
            "{" + members.map { "\(Self.quoted($0.key)): \($0.node.json)" }.joined(separator: ", ")
                + "}"
        case .sequence(let elements):
            "[" + elements.map(\.json).joined(separator: ", ") + "]"
        case .scalar(let scalar): scalar.isPlain ? scalar.text : Self.quoted(scalar.text)
        }
    }

    private static func quoted(_ text: String) -> String {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return String(Bytes(json))
    }
}
