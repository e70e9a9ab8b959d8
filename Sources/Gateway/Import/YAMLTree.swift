import Basics
import JSONText
import YAMLReader

/// A small YAML document that is written the way people write configurations: blocks for what is
/// long, `[a, b]` and `{ a: b }` for what is short, quotes only where they are needed.
indirect enum YAMLTree {
    case text(String)
    /// A number, `true`, or JSON, which is YAML too.
    case plain(String)
    case list([YAMLTree])
    /// Keys in lines of their own.
    case block([(String, YAMLTree)])
    /// Keys in one line.
    case inline([(String, YAMLTree)])

    static func texts(_ texts: [String]) -> YAMLTree { .list(texts.map { .text($0) }) }

    /// The lines of a document. It recurses as deep as the document, which is the caller's.
    var lines: [String] {
        switch self {
        case .block(let members): members.flatMap { Self.lines(key: $0.0, $0.1) }
        case .list(let items) where !isShort: items.flatMap { Self.item($0) }
        case .text, .plain, .list, .inline: [flow(inFlow: false)]
        }
    }

    private static func lines(key: String, _ value: YAMLTree) -> [String] {
        let key = YAMLTree.text(key).flow(inFlow: false)
        guard !value.isShort else { return ["\(key): \(value.flow(inFlow: false))"] }
        return ["\(key):"] + value.lines.map { "  " + $0 }
    }

    private static func item(_ value: YAMLTree) -> [String] {
        value.lines.enumerated().map { ($0.offset == 0 ? "- " : "  ") + $0.element }
    }

    /// Fits into the line of its key.
    private var isShort: Bool {
        switch self {
        case .text, .plain, .inline: true
        case .list(let items): items.allSatisfy { if case .block = $0 { false } else { true } }
        case .block(let members): members.isEmpty
        }
    }

    private func flow(inFlow: Bool) -> String {
        switch self {
        case .plain(let text): text
        case .text(let text): Self.isPlain(text, inFlow: inFlow) ? text : Self.quoted(text)
        case .list(let items):
            "[\(items.map { $0.flow(inFlow: true) }.joined(separator: ", "))]"
        case .block(let members), .inline(let members):
            members.isEmpty ? "{}" : "{ \(Self.pairs(members)) }"
        }
    }

    private static func pairs(_ members: [(String, YAMLTree)]) -> String {
        members.map { key, value in
            "\(YAMLTree.text(key).flow(inFlow: true)): \(value.flow(inFlow: true))"
        }.joined(separator: ", ")
    }

    // MARK: Texts

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

    /// A string of JSON is a string of YAML.
    private static func quoted(_ text: String) -> String {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return String(Bytes(json))
    }
}
