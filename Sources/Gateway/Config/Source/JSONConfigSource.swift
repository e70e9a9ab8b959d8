import Basics
import JSONText
package import YAMLReader

/// Parses a JSON configuration into the same tree as YAML, so that one decoder reads both.
package struct JSONConfigSource {
    private let text: Bytes
    private let file: FileName

    /// The last location that was computed. Nodes are visited in the order of the text, so counting
    /// continues from there, and even a file of one long line is scanned once.
    private var reached = TextPosition()

    package static func read(_ bytes: [UInt8], file: String) throws(DocumentProblem) -> DocumentNode
    {
        var source = JSONConfigSource(bytes, file: file)
        let document: JSONDocument
        do {
            document = try JSONDocument(source.text)
        } catch {
            throw DocumentProblem(
                location: source.location(error.offset),
                text: "this is not valid JSON: \(source.hint(on: error) ?? "\(error.reason)")")
        }
        return try source.node(document.root, depth: 1)
    }

    /// The remedy for what JavaScript and YAML allow, and JSON does not.
    private func hint(on error: JSONError) -> String? {
        guard error.reason == .unexpectedByte, error.offset < text.count else { return nil }
        let before = text[0..<error.offset].array.last { !" \t\r\n".utf8.contains($0) }
        switch text[error.offset] {
        case UInt8(ascii: "}") where before == UInt8(ascii: ","),
            UInt8(ascii: "]") where before == UInt8(ascii: ","):
            return "remove the comma before this bracket"
        case UInt8(ascii: "/"), UInt8(ascii: "#"): return "JSON has no comments"
        case UInt8(ascii: "'"): return "a text needs double quotes"
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            return "a text or key needs double quotes"
        case UInt8(ascii: "\"") where before != UInt8(ascii: ","):
            return "a comma is missing before this text"
        default: return nil
        }
    }

    /// Removes a byte order mark.
    private init(_ bytes: [UInt8], file: String) {
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        text = Bytes(hasMark ? Array(bytes.dropFirst(3)) : bytes)
        self.file = FileName(file)
    }

    /// The recursion is bounded by the depth of the tree.
    private mutating func node(
        _ node: JSONDocument.Node, depth: Int
    ) throws(DocumentProblem) -> DocumentNode {
        let location = location(node.range.lowerBound)
        let content: DocumentNode.Content
        switch node.content {
        case .object(let members):
            content = .mapping(try self.members(members, depth: depth, at: location))
        case .array(let elements):
            content = .sequence(try self.elements(elements, depth: depth, at: location))
        case .string(let string):
            // Only escapes make the text in the file longer than the string.
            let isVerbatim = string.utf8.count + 2 == node.range.count
            content = .scalar(
                .init(
                    text: string, isPlain: false,
                    textStart: isVerbatim ? location.advanced(by: 1) : nil))
        case .number(let number): content = .scalar(.init(text: number, isPlain: true))
        case .boolean(let value): content = .scalar(.init(text: "\(value)", isPlain: true))
        case .null: content = .scalar(.init(text: "null", isPlain: true))
        }
        return DocumentNode(location: location, content: content)
    }

    private mutating func members(
        _ members: [JSONDocument.Member], depth: Int, at location: SourceLocation
    ) throws(DocumentProblem) -> [DocumentNode.Member] {
        try check(depth, at: location)
        var nodes: [DocumentNode.Member] = []
        for member in members {
            let keyLocation = self.location(member.keyRange.lowerBound)
            nodes.append(
                .init(
                    key: member.key, keyLocation: keyLocation,
                    node: try node(member.value, depth: depth + 1)))
        }
        return nodes
    }

    private mutating func elements(
        _ elements: [JSONDocument.Node], depth: Int, at location: SourceLocation
    ) throws(DocumentProblem) -> [DocumentNode] {
        try check(depth, at: location)
        var nodes: [DocumentNode] = []
        for element in elements {
            nodes.append(try node(element, depth: depth + 1))
        }
        return nodes
    }

    private func check(_ depth: Int, at location: SourceLocation) throws(DocumentProblem) {
        guard depth <= YAMLDocument.depthMax else {
            throw DocumentProblem(
                location: location, text: "nested more than \(YAMLDocument.depthMax) levels deep")
        }
    }

    /// The location of a byte that is not before the last one whose location was computed.
    private mutating func location(_ offset: Int) -> SourceLocation {
        let text = text
        reached.advance(to: offset, in: text.span)
        return SourceLocation(file, line: reached.line, column: reached.column)
    }
}
