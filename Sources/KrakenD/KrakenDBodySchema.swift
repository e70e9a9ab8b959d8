import Gateway
import Patterns
import YAMLReader

/// Converts `validation/json-schema` to `body:`, as far as that supports it.
struct KrakenDBodySchema {
    private var findings: ImportFindings
    private let isClosed: Bool

    private init(findings: ImportFindings, isClosed: Bool) {
        self.findings = findings
        self.isClosed = isClosed
    }

    static func converted(
        _ schema: DocumentNode, _ findings: inout ImportFindings
    ) -> YAMLTree {
        let isClosed = schema["properties"] != nil && refusesUnknown(schema)
        var body = KrakenDBodySchema(findings: findings, isClosed: isClosed)
        let tree = YAMLTree.block(body.members(of: schema, isRoot: true))
        findings = body.findings
        return tree
    }

    /// The recursion is as deep as a document may be.
    private mutating func members(
        of schema: DocumentNode, isRoot: Bool
    ) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        var properties: [(String, YAMLTree)] = []
        let kind = schema["type"]?.text
        for member in schema.members {
            switch (member.key, member.node) {
            case ("type", let node) where node.text != nil:
                members.append(("type", .text(node.text ?? "")))
            case ("required", let node): members.append(("required", .texts(node.texts)))
            case ("properties", let node):
                for property in node.members {
                    let inner = self.members(of: property.node, isRoot: false)
                    properties.append((property.key, .inline(inner)))
                }
            case ("minimum", let node) where !isRoot && kind.isNumeric:
                members.append(("min", .plain(node.number ?? "0")))
            case ("maximum", let node) where !isRoot && kind.isNumeric:
                members.append(("max", .plain(node.number ?? "0")))
            case ("minLength", let node) where !isRoot && kind == "string":
                members.append(("min_length", Self.length(node)))
            case ("maxLength", let node) where !isRoot && kind == "string":
                members.append(("max_length", Self.length(node)))
            case ("pattern", let node) where !isRoot && kind == "string":
                if let pattern = pattern(node) { members.append(("pattern", pattern)) }
            case ("enum", let node) where !isRoot && kind.isScalar:
                members.append(("one_of", .list(node.elements.map { .plain($0.json) })))
            case ("additionalProperties", let node) where node.flag == true: break
            case ("additionalProperties", let node) where node.flag == false && isClosed:
                if isRoot { members.append(("unknown_fields", .text("refuse"))) }
            case ("$schema", _), ("$id", _), ("title", _), ("description", _), ("examples", _),
                ("default", _), ("$comment", _):
                break
            default:
                findings.warning(
                    at: member.keyLocation, "'\(member.key)' is left out: 'body' does not check it")
            }
        }
        if !properties.isEmpty { members.append(("properties", .block(properties))) }
        return members
    }

    /// A length above the maximum is reduced to it: no value has as many characters.
    private static func length(_ node: DocumentNode) -> YAMLTree {
        let text = node.number ?? "0"
        guard let length = Double(text), length > Double(SizeLimits.length) else {
            return .plain(text)
        }
        return .plain("\(SizeLimits.length)")
    }

    private mutating func pattern(_ node: DocumentNode) -> YAMLTree? {
        guard let pattern = node.text else { return nil }
        do throws(PatternError) {
            return .text(try KrakenDRegex.whole(pattern))
        } catch {
            findings.warning(at: node.location, "'pattern' is left out: \(error)")
            return nil
        }
    }

    /// Whether `unknown_fields: refuse`, which applies to every declared object, means the same:
    /// whether all of them refuse additional properties. The recursion is as deep as a document may
    /// be.
    private static func refusesUnknown(_ schema: DocumentNode) -> Bool {
        guard let properties = schema["properties"]?.members, !properties.isEmpty else {
            return true
        }
        return schema["additionalProperties"]?.flag == false
            && properties.allSatisfy { refusesUnknown($0.node) }
    }
}

extension String? {
    fileprivate var isNumeric: Bool { self == "integer" || self == "number" }
    fileprivate var isScalar: Bool { isNumeric || self == "string" || self == "boolean" }
}
