import Basics
import JSONText

/// A small JSON document that is written with its members in order, one per line.
package indirect enum JSONTree: Sendable {
    case text(String)
    /// A number, `true` or `false`.
    case raw(String)
    case list([JSONTree])
    case object([(String, JSONTree)])

    package static func texts(_ texts: [String]) -> JSONTree { .list(texts.map { .text($0) }) }

    /// Without a line end. The recursion is as deep as the document, which the caller bounds.
    package var text: String {
        var json: [UInt8] = []
        append(to: &json, indent: 0)
        return String(Bytes(json))
    }

    /// In one line, without spaces. The recursion is as deep as the document, which the caller bounds.
    package var compact: [UInt8] {
        var json: [UInt8] = []
        append(compactTo: &json)
        return json
    }

    private func append(compactTo json: inout [UInt8]) {
        switch self {
        case .text(let text): json.append(jsonString: text)
        case .raw(let text): json.append(text)
        case .list(let nodes):
            json.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                node.append(compactTo: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .object(let members):
            json.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json.append(jsonString: member.0)
                json.append(UInt8(ascii: ":"))
                member.1.append(compactTo: &json)
            }
            json.append(UInt8(ascii: "}"))
        }
    }

    private func append(to json: inout [UInt8], indent: Int) {
        switch self {
        case .text(let text): json.append(jsonString: text)
        case .raw(let text): json.append(text)
        case .list(let nodes):
            json.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { json.append(literal: ", ") }
                node.append(to: &json, indent: indent)
            }
            json.append(UInt8(ascii: "]"))
        case .object(let members) where members.isEmpty: json.append(literal: "{}")
        case .object(let members):
            json.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                json.append(literal: index > 0 ? ",\n" : "\n")
                json.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent + 2))
                json.append(jsonString: member.0)
                json.append(literal: ": ")
                member.1.append(to: &json, indent: indent + 2)
            }
            json.append(UInt8(ascii: "\n"))
            json.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent))
            json.append(UInt8(ascii: "}"))
        }
    }
}
