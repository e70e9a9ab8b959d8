import Gateway
import Patterns
import YAMLReader

/// Converts `validation/json-schema` to `body:`, as far as that supports it.
struct KrakenDBodySchema {
    private let findings: ImportFindings
    private let isClosed: Bool

    static func converted(_ schema: DocumentNode, _ findings: ImportFindings) -> YAMLTree {
        let isClosed = schema["properties"] != nil && refusesUnknown(schema)
        let body = KrakenDBodySchema(findings: findings, isClosed: isClosed)
        return .block(body.members(of: schema, isRoot: true))
    }

    /// The keywords of scalar properties, with the types that they apply to.
    private static let keywords:
        [String: (types: Set<String>, name: String, convert: @Sendable (DocumentNode) -> YAMLTree)] =
            [
                "minimum": (["integer", "number"], "min", number),
                "maximum": (["integer", "number"], "max", number),
                "minLength": (["string"], "min_length", length),
                "maxLength": (["string"], "max_length", length),
                "enum": (["integer", "number", "string", "boolean"], "one_of", choices),
            ]

    /// The recursion is as deep as a document may be.
    private func members(of schema: DocumentNode, isRoot: Bool) -> YAMLMembers {
        var members: YAMLMembers = []
        let properties = (schema["properties"]?.members ?? []).map { property in
            (property.key, YAMLTree.inline(self.members(of: property.node, isRoot: false)))
        }
        let type = isRoot ? "" : schema["type"]?.text ?? ""
        for member in schema.members {
            let node = member.node
            if let keyword = Self.keywords[member.key], keyword.types.contains(type) {
                members.append((keyword.name, keyword.convert(node)))
                continue
            }
            switch member.key {
            case "type" where node.text != nil: members.append(("type", .text(node.text ?? "")))
            case "required": members.append(("required", .texts(node.texts)))
            case "pattern" where type == "string":
                if let pattern = pattern(node) { members.append(("pattern", pattern)) }
            case "additionalProperties" where node.flag == true: break
            case "additionalProperties" where node.flag == false && isClosed:
                if isRoot { members.append(("unknown_fields", .text("refuse"))) }
            case "properties", "$schema", "$id", "title", "description", "examples", "default",
                "$comment":
                break
            default: findings.reportLoss(of: member, .warning, "'body' does not check it")
            }
        }
        if !properties.isEmpty { members.append(("properties", .block(properties))) }
        return members
    }

    private static func number(_ node: DocumentNode) -> YAMLTree { .plain(node.number ?? "0") }

    /// A length above the maximum is reduced to it: no value has as many characters.
    private static func length(_ node: DocumentNode) -> YAMLTree {
        let isLonger = Double(node.number ?? "0").map { $0 > Double(SizeLimits.length) } ?? false
        return isLonger ? .plain("\(SizeLimits.length)") : number(node)
    }

    private static func choices(_ node: DocumentNode) -> YAMLTree {
        .list(node.elements.map { .plain($0.json) })
    }

    private func pattern(_ node: DocumentNode) -> YAMLTree? {
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

/// Regular expressions of KrakenD, which may match a part of a text; the gateway's match the whole
/// text.
enum KrakenDRegex {
    /// The pattern that matches the texts of which this one matches a part.
    static func whole(_ text: String) throws(PatternError) -> String {
        var pattern = text
        // An anchor at either end belongs to one alternative only; there it keeps its meaning.
        let hasOneBranch = !hasAlternatives(text)
        let isFromStart = hasOneBranch && text.hasPrefix("^")
        let isToEnd = hasOneBranch && endsWithAnchor(text)
        if isFromStart { pattern.removeFirst() }
        if isToEnd { pattern.removeLast() }
        if !isFromStart || !isToEnd { pattern = "(\(pattern))" }
        pattern = (isFromStart ? "" : ".*") + pattern + (isToEnd ? "" : ".*")
        _ = try Pattern(pattern)
        return pattern
    }

    private static func endsWithAnchor(_ text: String) -> Bool {
        let escapes = text.dropLast().reversed().prefix { $0 == "\\" }.count
        return text.hasSuffix("$") && escapes.isMultiple(of: 2)
    }

    /// Whether a `|` divides the whole pattern, not only a group.
    private static func hasAlternatives(_ text: String) -> Bool {
        var (depth, isInClass, isEscaped) = (0, false, false)
        for sign in text {
            if isEscaped || sign == "\\" {
                isEscaped.toggle()
                continue
            }
            switch sign {
            case "[": isInClass = true
            case "]": isInClass = false
            case "(" where !isInClass: depth += 1
            case ")" where !isInClass: depth -= 1
            case "|" where !isInClass && depth == 0: return true
            default: break
            }
        }
        return false
    }

    /// The pattern that matches this text only.
    static func literal(_ text: String) -> String {
        text.map { "\\.^$|()[]{}*+?".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
