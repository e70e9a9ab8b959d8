import Basics
import JSONText
import YAMLReader

extension Reading where Value == Config.Call.IfFailed {
    /// `omit`, or any value, kept as JSON.
    static var ifFailed: Reading {
        Reading(schema: .anything) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "omit" { return .omit }
            var json: [UInt8] = []
            guard decoder.append(node, to: &json) else { return nil }
            return .value(Bytes(json))
        }
    }
}

extension ConfigDecoder {
    /// Writes a tree as JSON: order kept, numbers spelled as in the file. False if it was refused.
    ///
    /// Recursion is bounded by the depth of documents.
    fileprivate mutating func append(_ node: DocumentNode, to json: inout [UInt8]) -> Bool {
        var isRight = true
        switch node.content {
        case .mapping(let members):
            json.append(UInt8(ascii: "{"))
            for member in withoutDuplicates(members) {
                json.append(jsonKey: member.key)
                isRight = append(member.node, to: &json) && isRight
            }
            json.append(UInt8(ascii: "}"))
        case .sequence(let nodes):
            json.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                isRight = append(node, to: &json) && isRight
            }
            json.append(UInt8(ascii: "]"))
        case .scalar:
            guard let scalar = scalar(node, expected: "must be a value") else { return false }
            guard let literal = jsonLiteral(of: scalar) else { return false }
            json.append(literal)
        }
        return isRight
    }

    /// The scalar as a JSON text; nil after a report, if JSON has nothing like it.
    mutating func jsonLiteral(of scalar: ReadScalar) -> String? {
        switch scalar.type {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer, .decimal:
            if let number = JSONNumber.spelling(of: scalar.text, type: scalar.type) {
                return number
            }
            fail(
                scalar.location, "must be a value of JSON, which has no number '\(scalar.written)'")
            return nil
        case .string: return String(jsonQuoting: scalar.text)
        }
    }
}
