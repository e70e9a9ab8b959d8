import Basics
import JSONText
import YAMLReader

/// A small YAML document that is written the way people write configurations: blocks for what is
/// long, `[a, b]` and `{ a: b }` for what is short, quotes only where they are needed.
indirect enum YAMLTree: Sendable {
    /// Read back by the configuration's decoder, it is the same text: `${` is escaped.
    case text(String)
    /// A number, `true`, or JSON, which is YAML too.
    case plain(String)
    case list([YAMLTree])
    /// Keys in lines of their own.
    case block([(String, YAMLTree)])
    /// Keys in one line.
    case inline([(String, YAMLTree)])
    /// Something that was made from what stands at this source location.
    case located(YAMLTree, SourceLocation)

    static func texts(_ texts: [String]) -> YAMLTree { .list(texts.map { .text($0) }) }

    /// The lines of a document. It recurses as deep as the document, which is the caller's.
    var lines: [YAMLLine] {
        switch self {
        case .block(let members): members.flatMap { Self.lines(key: $0.0, $0.1) }
        case .list(let items) where !isShort: items.flatMap(\.item)
        case .located(let tree, let location): tree.lines.map { $0.located(location) }
        case .text, .plain, .list, .inline: [YAMLLine(flow(inFlow: false))]
        }
    }

    static func lines(key: String, _ value: YAMLTree) -> [YAMLLine] {
        let name = key.isEmpty ? "\"\"" : scalar(key, inFlow: false)
        if case .located(let tree, let location) = value {
            return lines(key: key, tree).map { $0.located(location) }
        }
        guard !value.isShort else { return [YAMLLine("\(name): \(value.flow(inFlow: false))")] }
        return [YAMLLine("\(name):")] + value.lines.map { $0.indented() }
    }

    /// As an item of a list in lines of its own.
    var item: [YAMLLine] {
        lines.enumerated().map { $0.element.indented(by: $0.offset == 0 ? "- " : "  ") }
    }

    /// Fits into the line of its key.
    private var isShort: Bool {
        switch self {
        case .text, .plain, .inline: true
        case .list(let items): items.allSatisfy { !$0.isBlock }
        case .block(let members): members.isEmpty
        case .located(let tree, _): tree.isShort
        }
    }

    private var isBlock: Bool {
        switch self {
        case .block: true
        case .located(let tree, _): tree.isBlock
        case .text, .plain, .list, .inline: false
        }
    }

    private func flow(inFlow: Bool) -> String {
        switch self {
        case .plain(let text): text
        case .text(let text): Self.scalar(text.replacing("${", with: "$${"), inFlow: inFlow)
        case .list(let items):
            "[\(items.map { $0.flow(inFlow: true) }.joined(separator: ", "))]"
        case .block(let members), .inline(let members):
            members.isEmpty ? "{}" : "{ \(Self.pairs(members)) }"
        case .located(let tree, _): tree.flow(inFlow: inFlow)
        }
    }

    private static func pairs(_ members: [(String, YAMLTree)]) -> String {
        members.map { key, value in
            "\(scalar(key, inFlow: true)): \(value.flow(inFlow: true))"
        }.joined(separator: ", ")
    }

    // MARK: Texts

    private static func scalar(_ text: String, inFlow: Bool) -> String {
        isPlain(text, inFlow: inFlow) ? text : String(jsonQuoting: text)
    }

    /// Reads back as the same text without quotes.
    private static func isPlain(_ text: String, inFlow: Bool) -> Bool {
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last,
            first.properties.isAlphabetic || "/._0123456789".unicodeScalars.contains(first),
            last != ":", last != " ", !text.contains(": "), !text.contains(" #"),
            DocumentNode.Scalar(text: text, isPlain: true).type == .string
        else { return false }
        let others = " -._~/:@%+*?=&!$()" + (inFlow ? "" : "{}[],")
        return text.unicodeScalars.allSatisfy { sign in
            sign.isASCII
                && (sign.properties.isAlphabetic || ("0"..."9").contains(sign)
                    || others.unicodeScalars.contains(sign))
        }
    }
}
