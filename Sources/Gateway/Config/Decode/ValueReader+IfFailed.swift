import Basics
import JSONText
import YAMLReader

/// The fallback of a call, and other constants.
extension ValueReader where Value == Config.Call.IfFailed {
    /// `omit`, or any value, kept as JSON.
    static var ifFailed: ValueReader {
        ValueReader(schema: .anything) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "omit" { return .omit }
            return ValueReader<Bytes>.json.read(node, &decoder).map { .value($0) }
        }
    }
}

extension ValueReader where Value == Bytes {
    /// Any value, kept as JSON.
    static var json: ValueReader {
        ValueReader(schema: .anything) { node, decoder in
            var json: [UInt8] = []
            return decoder.append(node, to: &json) ? Bytes(json) : nil
        }
    }
}

extension ConfigDecoder {
    /// Writes a tree as JSON, in the order and with the numbers of the file. False if it was
    /// refused.
    ///
    /// The recursion is bounded by the depth of documents.
    fileprivate mutating func append(_ node: DocumentNode, to json: inout [UInt8]) -> Bool {
        var isValid = true
        switch node.content {
        case .mapping(let members):
            json.append(UInt8(ascii: "{"))
            for member in withoutDuplicates(members) {
                json.append(jsonKey: member.key)
                isValid = append(member.node, to: &json) && isValid
            }
            json.append(UInt8(ascii: "}"))
        case .sequence(let nodes):
            json.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                isValid = append(node, to: &json) && isValid
            }
            json.append(UInt8(ascii: "]"))
        case .scalar:
            guard let scalar = scalar(node, expected: "must be a value") else { return false }
            guard let literal = jsonLiteral(of: scalar) else { return false }
            json.append(literal)
        }
        return isValid
    }

    /// The scalar as JSON text; nil if JSON cannot express it, which is reported.
    mutating func jsonLiteral(of scalar: ExpandedScalar) -> String? {
        switch scalar.type {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer, .decimal:
            if let number = JSONNumber.spelling(of: scalar.text, type: scalar.type) {
                return number
            }
            fail(
                scalar.location, "must be a JSON value; '\(scalar.written)' is not a JSON number")
            return nil
        case .string: return String(jsonQuoting: scalar.text)
        }
    }
}
