/// A JSON document of the model: members in order, every scalar with its original text.
package indirect enum Tree: Equatable, Sendable {
    case scalar(String)
    case array([Tree])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var key: String
        package var value: Tree

        package init(key: String, value: Tree) {
            self.key = key
            self.value = value
        }
    }

    package static let null = Tree.scalar("null")

    package static func text(_ text: String) -> Tree { .scalar("\"\(text)\"") }

    package static func members(_ members: KeyValuePairs<String, Tree>) -> Tree {
        .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    /// The document as compact text.
    package var written: String {
        switch self {
        case .scalar(let text): text
        case .array(let elements): "[" + elements.map(\.written).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\"\($0.key)\":\($0.value.written)" }.joined(separator: ",") + "}"
        }
    }

    package subscript(key: String) -> Tree? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    package var elements: [Tree]? { if case .array(let elements) = self { elements } else { nil } }

    package var isObject: Bool { if case .object = self { true } else { false } }

    /// The text of a string without its quotes; drawn strings have no escapes.
    package var string: String? {
        guard case .scalar(let text) = self, text.hasPrefix("\"") else { return nil }
        return String(text.dropFirst().dropLast())
    }

    package var integer: Int? { if case .scalar(let text) = self { Int(text) } else { nil } }
}

extension Tree {
    /// Reads a document; nil if it is not valid. The depth is limited, since the input may be malformed.
    package init?(reading text: [UInt8]) {
        var reader = TreeReader(text: text)
        guard let tree = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = tree
    }
}

/// A recursive descent parser; simple rather than fast.
private struct TreeReader {
    package let text: [UInt8]
    package var position = 0

    package var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == text.count
        }
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        skipSpace()
        guard next == character.asciiValue else { return false }
        position += 1
        return true
    }

    package mutating func value(depth: Int) -> Tree? {
        guard depth < 64 else { return nil }
        if take("{") { return object(depth: depth) }
        if take("[") { return array(depth: depth) }
        guard let start = scalarStart() else { return nil }
        return .scalar(String(decoding: text[start..<position], as: UTF8.self))
    }

    private mutating func object(depth: Int) -> Tree? {
        var members: [Tree.Member] = []
        if take("}") { return .object([]) }
        repeat {
            guard let key = value(depth: depth + 1)?.string, take(":"),
                let value = value(depth: depth + 1)
            else { return nil }
            members.append(Tree.Member(key: key, value: value))
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> Tree? {
        var elements: [Tree] = []
        if take("]") { return .array([]) }
        repeat {
            guard let element = value(depth: depth + 1) else { return nil }
            elements.append(element)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    /// Skips a string or a literal and returns where it began.
    private mutating func scalarStart() -> Int? {
        skipSpace()
        let start = position
        guard let first = next else { return nil }
        guard first == UInt8(ascii: "\"") else {
            while let byte = next, ![0x2C, 0x5D, 0x7D, 0x20, 0x3A, 0x0A].contains(byte) {
                position += 1
            }
            return position > start ? start : nil
        }
        position += 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard next != nil else { return nil }
        position += 1
        return start
    }
}
