import Basics
import Gateway
import JSONText
import YAMLReader

/// The members of a mapping, in the order in which they are written.
typealias YAMLMembers = [(String, YAMLTree)]

/// A small YAML document that is written in the usual style of configurations: blocks for long
/// values, `[a, b]` and `{ a: b }` for short ones, quotes only where necessary.
indirect enum YAMLTree: Sendable {
    /// A text; `${` is escaped, so that the configuration decoder reads the same text.
    case text(String)
    /// A number, `true`, or JSON, which is also YAML.
    case plain(String)
    case list([YAMLTree])
    /// A mapping with each key on its own line.
    case block(YAMLMembers)
    /// A mapping in one line.
    case inline(YAMLMembers)
    /// A tree that was generated from the value at this source location.
    case located(YAMLTree, SourceLocation)

    static func texts(_ texts: [String]) -> YAMLTree { .list(texts.map { .text($0) }) }

    /// Nil for an empty list.
    static func texts(unlessEmpty texts: [String]) -> YAMLTree? {
        texts.isEmpty ? nil : .texts(texts)
    }

    /// Nil without members.
    static func inline(unlessEmpty members: YAMLMembers) -> YAMLTree? {
        members.isEmpty ? nil : .inline(members)
    }

    /// Nil if it is false, the default.
    static func flag(_ flag: Bool) -> YAMLTree? { flag ? .plain("true") : nil }

    static func duration(_ duration: Duration) -> YAMLTree { .text(duration.spelled) }

    /// The members that have a value.
    static func members(_ members: [(String, YAMLTree?)]) -> YAMLMembers {
        members.compactMap { key, tree in tree.map { (key, $0) } }
    }

    // MARK: Lines

    /// The lines of a document. The recursion is as deep as the document, which the caller bounds.
    var lines: [YAMLLine] {
        switch self {
        case .block(let members): members.flatMap { Self.lines(key: $0.0, $0.1) }
        case .list(let items) where !isShort: items.flatMap(\.item)
        case .located(let tree, let location): tree.lines.map { $0.located(location) }
        case .text, .plain, .list, .inline: [YAMLLine(flow(inFlow: false))]
        }
    }

    /// The text of all lines; equal for equal trees.
    var identity: String { lines.map(\.text).joined() }

    static func lines(key: String, _ value: YAMLTree) -> [YAMLLine] {
        let name = key.isEmpty ? "\"\"" : scalar(key, inFlow: false)
        if case .located(let tree, let location) = value {
            return lines(key: key, tree).map { $0.located(location) }
        }
        guard !value.isShort else { return [YAMLLine("\(name): \(value.flow(inFlow: false))")] }
        return [YAMLLine("\(name):")] + value.lines.map { $0.indented() }
    }

    /// The lines of the tree as an item of a block list.
    var item: [YAMLLine] {
        lines.enumerated().map { $0.element.indented(by: $0.offset == 0 ? "- " : "  ") }
    }

    /// Whether it fits into the line of its key.
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

    private static func pairs(_ members: YAMLMembers) -> String {
        members.map { key, value in
            "\(scalar(key, inFlow: true)): \(value.flow(inFlow: true))"
        }.joined(separator: ", ")
    }

    // MARK: Texts

    private static func scalar(_ text: String, inFlow: Bool) -> String {
        isPlain(text, inFlow: inFlow) ? text : String(jsonQuoting: text)
    }

    /// Whether the text without quotes is read as the same text.
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

/// One line of a YAML document, with the source location that it was generated from.
struct YAMLLine {
    let text: String
    let location: SourceLocation?

    init(_ text: String, location: SourceLocation? = nil) {
        self.text = text
        self.location = location
    }

    func indented(by space: String = "  ") -> YAMLLine {
        YAMLLine(space + text, location: location)
    }

    /// The innermost location is the most precise, so it is kept.
    func located(_ outer: SourceLocation) -> YAMLLine {
        YAMLLine(text, location: location ?? outer)
    }

    var asComment: YAMLLine { YAMLLine("# " + text, location: location) }

    /// A comment, wrapped into lines. Line breaks and other control characters become spaces, so
    /// that no input text can end the comment.
    static func comment(_ text: String) -> [YAMLLine] {
        let words = text.split { sign in
            sign.isWhitespace || sign.isNewline
                || sign.unicodeScalars.contains(where: isUnprintable)
        }
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(lines.isEmpty ? "# \(word)" : "#   \(word)")
            }
        }
        return lines.map { YAMLLine($0) }
    }

    private static let width = 100

    /// Characters that YAML 1.2 does not allow in a comment (section 5.1), and characters that change
    /// the text direction.
    private static func isUnprintable(_ sign: Unicode.Scalar) -> Bool {
        switch sign.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
            .privateUse:
            true
        default: false
        }
    }
}
