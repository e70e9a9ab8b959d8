import Basics

/// Reads valid text into nodes, with an explicit stack of the open containers.
///
/// Each level of nesting scans its values once more, which is fast enough for configuration files.
struct JSONDocumentReader: ~Escapable {
    private let text: Lookahead
    private var open: [Container] = []

    private struct Container {
        let range: Range<Int>
        let isObject: Bool
        /// The offset up to which it was read.
        var at: Int
        /// The key of the value that is being read.
        var key: Range<Int> = 0..<0
        var members: [JSONDocument.Member] = []
        var elements: [JSONDocument.Node] = []
    }

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = Lookahead(text) }

    mutating func node(_ root: Range<Int>) -> JSONDocument.Node {
        var next: Range<Int>? = root
        while true {
            var finished: JSONDocument.Node?
            if let value = next {
                finished = enter(value)
            } else if let container = open.popLast() {
                finished = node(of: container)
            }
            if let finished {
                guard let parent = open.indices.last else { return finished }
                add(finished, to: parent)
            }
            next = advance()
        }
    }

    /// Reads a scalar; opens a container, whose values follow.
    private mutating func enter(_ value: Range<Int>) -> JSONDocument.Node? {
        switch text.byte(value.lowerBound) {
        case .openBrace, .openBracket:
            let isObject = text.byte(value.lowerBound) == .openBrace
            open.append(Container(range: value, isObject: isObject, at: value.lowerBound + 1))
            return nil
        default:
            return JSONDocument.Node(range: value, content: scalar(value))
        }
    }

    /// The next value of the innermost container; nil at its end.
    private mutating func advance() -> Range<Int>? {
        guard let last = open.indices.last else { return nil }
        var cursor = JSONCursor(text, at: open[last].at)
        let value: Range<Int>?
        if open[last].isObject {
            let member = cursor.nextMember()
            open[last].key = member?.key.inside ?? 0..<0
            value = member?.value
        } else {
            value = cursor.nextElement()
        }
        open[last].at = cursor.at
        return value
    }

    private mutating func add(_ node: JSONDocument.Node, to parent: Int) {
        let key = open[parent].key
        guard open[parent].isObject else { return open[parent].elements.append(node) }
        open[parent].members.append(
            JSONDocument.Member(
                key: string(key), keyRange: (key.lowerBound - 1)..<(key.upperBound + 1),
                value: node))
    }

    private func node(of container: Container) -> JSONDocument.Node {
        JSONDocument.Node(
            range: container.range,
            content: container.isObject ? .object(container.members) : .array(container.elements))
    }

    private func scalar(_ value: Range<Int>) -> JSONDocument.Content {
        switch text.byte(value.lowerBound) {
        case .quote: .string(string((value.lowerBound + 1)..<(value.upperBound - 1)))
        case UInt8(ascii: "t"): .boolean(true)
        case UInt8(ascii: "f"): .boolean(false)
        case UInt8(ascii: "n"): .null
        default: .number(String(copying: text.span(value)))
        }
    }

    private func string(_ inside: Range<Int>) -> String {
        String(decoding: text.span(inside).unescaped, as: UTF8.self)
    }
}
