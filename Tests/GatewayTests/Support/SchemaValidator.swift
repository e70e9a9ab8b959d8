import Foundation
import YAMLReader

/// Validates documents against the subset of JSON Schema (2020-12) that the configuration schema
/// uses. An unknown keyword is an error of the schema, so that no rule is ignored silently.
struct SchemaValidator {
    private let root: [String: Any]

    init(_ schema: String) throws {
        let json = try JSONSerialization.jsonObject(with: Data(schema.utf8))
        root = json as? [String: Any] ?? [:]
    }

    /// The errors, each with its path; empty for a valid document.
    func problems(of document: DocumentNode) -> [String] { problems(document, root, at: "") }

    private func problems(_ node: DocumentNode, _ schema: [String: Any], at path: String)
        -> [String]
    {
        schema.keys.sorted().flatMap { keyword in
            problems(node, keyword, schema[keyword] ?? "", schema, at: path)
        }
    }

    private func problems(
        _ node: DocumentNode, _ keyword: String, _ value: Any, _ schema: [String: Any],
        at path: String
    ) -> [String] {
        func unless(_ isRight: Bool, _ words: String) -> [String] {
            isRight ? [] : ["\(path): \(words)"]
        }
        let schemas = (value as? [[String: Any]] ?? []).map { problems(node, $0, at: path) }
        switch keyword {
        case "$schema", "$id", "title", "description", "default", "examples", "format", "$defs":
            return []
        case "$ref": return problems(node, definition(value), at: path)
        case "type":
            let names = value as? [String] ?? [value as? String ?? ""]
            return unless(names.contains(where: node.isOf), "is no \(names)")
        case "enum":
            return unless(
                (value as? [Any] ?? []).contains(where: node.equals), "is none of \(value)")
        case "pattern":
            guard case .scalar(let scalar) = node.content, scalar.type == .string else { return [] }
            let isMatch = (try? Regex(value as? String ?? "[")).map { scalar.text.contains($0) }
            return unless(isMatch == true, "'\(scalar.text)' does not match \(value)")
        case "minimum": return unless(node.number.map { $0 >= double(value) } ?? true, "is less")
        case "maximum": return unless(node.number.map { $0 <= double(value) } ?? true, "is more")
        case "allOf": return schemas.flatMap { $0 }
        case "anyOf":
            return unless(schemas.contains(where: \.isEmpty), "fits nothing: \(schemas)")
        case "oneOf": return unless(schemas.count(where: \.isEmpty) == 1, "does not fit one")
        case "not":
            let schema = value as? [String: Any] ?? [:]
            return unless(!problems(node, schema, at: path).isEmpty, "fits what it must not")
        case "required":
            let keys = node.members.map(\.key)
            return (value as? [String] ?? []).filter { !keys.contains($0) }.map {
                "\(path): \($0) is missing"
            }
        case "items":
            return node.elements.enumerated().flatMap { index, element in
                problems(element, value as? [String: Any] ?? [:], at: "\(path)[\(index)]")
            }
        case "propertyNames":
            return node.members.flatMap { member in
                problems(
                    DocumentNode(
                        location: member.keyLocation,
                        content: .scalar(.init(text: member.key, isPlain: false))),
                    value as? [String: Any] ?? [:], at: "\(path).\(member.key)")
            }
        case "properties":
            return node.members.flatMap { member in
                (value as? [String: [String: Any]])?[member.key].map {
                    problems(member.node, $0, at: "\(path).\(member.key)")
                } ?? []
            }
        case "additionalProperties":
            let known = schema["properties"] as? [String: Any] ?? [:]
            let others = node.members.filter { known[$0.key] == nil }
            guard let schema = value as? [String: Any] else {
                return others.map { "\(path): \($0.key) is unknown" }
            }
            return others.flatMap { problems($0.node, schema, at: "\(path).\($0.key)") }
        default: return ["\(path): the keyword \(keyword) is unknown here"]
        }
    }

    private func definition(_ reference: Any) -> [String: Any] {
        let name = (reference as? String ?? "").replacing("#/$defs/", with: "")
        let found = (root["$defs"] as? [String: [String: Any]])?[name]
        return found ?? ["\(reference) leads nowhere": true]
    }
}

extension DocumentNode {
    fileprivate var members: [Member] {
        if case .mapping(let members) = content { members } else { [] }
    }

    fileprivate var elements: [DocumentNode] {
        if case .sequence(let elements) = content { elements } else { [] }
    }

    fileprivate var scalar: Scalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    fileprivate var number: Double? {
        switch scalar?.type {
        case .integer, .decimal: scalar.flatMap { Double($0.text) }
        case .null, .bool, .string, nil: nil
        }
    }

    fileprivate func isOf(type: String) -> Bool {
        switch (content, scalar?.type) {
        case (.mapping, _): type == "object"
        case (.sequence, _): type == "array"
        case (_, .string?): type == "string"
        case (_, .bool?): type == "boolean"
        case (_, .integer?): type == "integer" || type == "number"
        case (_, .decimal?): type == "number"
        case (_, .null?): type == "null"
        case (_, nil): false
        }
    }

    fileprivate func equals(_ value: Any) -> Bool {
        if value is NSNull { return scalar?.type == .null }
        guard let text = value as? String else { return scalar?.text == "\(value)" }
        return scalar?.type == .string && scalar?.text == text
    }
}

private func double(_ value: Any) -> Double { (value as? NSNumber)?.doubleValue ?? .nan }
