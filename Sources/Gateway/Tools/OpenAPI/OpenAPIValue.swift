import YAMLReader

/// The JSON Schema of a value in a request.
struct OpenAPIValue {
    let tree: JSONTree

    /// A parameter; one that is only named in the route is a string.
    init(_ param: Config.Param?, isInPath: Bool) {
        let kind = param?.type?.value ?? .string
        var members = Self.members(of: kind.rawValue, param)
        if isInPath, kind == .string, param?.oneOf.isEmpty != false {
            // An empty segment and dot segments would change the path.
            if param?.minLength == nil { members.append(("minLength", .raw("1"))) }
            members.append(("not", .object([("enum", .texts([".", ".."]))])))
        }
        if !isInPath, let fallback = param?.fallback {
            members.append(("default", Self.literal(fallback.value, of: kind.rawValue)))
        }
        tree = .object(members)
    }

    static func tree(of body: Config.Body) -> JSONTree {
        let isClosed = body.unknownFields?.value == .refuse
        return object(body.type?.value, body.required, body.properties, [], isClosed: isClosed)
    }

    // The recursion is as deep as the nesting of the configuration, which its reader bounds.
    private static func tree(of property: Config.Property, isClosed: Bool) -> JSONTree {
        let isText = property.type == nil && !property.oneOf.isEmpty
        let kind = property.type?.value.rawValue ?? (isText ? "string" : nil)
        let members = kind.map { self.members(of: $0, property) } ?? []
        return object(
            property.type?.value, property.required, property.properties,
            members.filter { $0.0 != "type" || isText }, isClosed: isClosed)
    }

    private static func object(
        _ type: Config.Property.Kind?, _ required: [Located<String>],
        _ properties: [Config.Property], _ others: [(String, JSONTree)], isClosed: Bool
    ) -> JSONTree {
        // A value with members is an object, even if no type is written.
        let hasMembers = !required.isEmpty || !properties.isEmpty
        var members = others
        if let type = type ?? (hasMembers ? .object : nil) {
            members.insert(("type", .text(type.rawValue)), at: 0)
        }
        if !required.isEmpty { members.append(("required", .texts(required.map(\.value)))) }
        if !properties.isEmpty {
            members.append(
                (
                    "properties",
                    .object(
                        properties.map { ($0.name.value, tree(of: $0, isClosed: isClosed)) })
                ))
        }
        if isClosed, hasMembers {
            // JSON Schema knows only the names in `properties`.
            let declared = properties.map(\.name.value)
            let others = required.map(\.value).filter { !declared.contains($0) }
            if others.isEmpty { members.append(("additionalProperties", .raw("false"))) }
        }
        return .object(members)
    }

    /// A body that contains a field that is not null. The recursion is as deep as the path.
    static func tree(of field: OpenAPINeeds.Field) -> JSONTree {
        var tree: JSONTree =
            field.isText
            ? .object([("type", .texts(["string", "number", "boolean"]))])
            : .object([("not", .object([("type", .text("null"))]))])
        for key in field.keys.reversed() {
            tree = .object([
                ("type", .text("object")), ("required", .texts([key])),
                ("properties", .object([(key, tree)])),
            ])
        }
        return tree
    }

    // MARK: Rules

    private static func members(
        of kind: String, _ limits: (any ValueLimits)?
    ) -> [(String, JSONTree)] {
        var members: [(String, JSONTree)] = [("type", .text(kind == "uuid" ? "string" : kind))]
        if kind == "uuid" { members.append(("format", .text("uuid"))) }
        guard let limits else { return members }
        if let min = limits.min { members.append(("minimum", number(min.value))) }
        if let max = limits.max { members.append(("maximum", number(max.value))) }
        if let least = limits.minLength { members.append(("minLength", .raw("\(least.value)"))) }
        if let most = limits.maxLength { members.append(("maxLength", .raw("\(most.value)"))) }
        if let pattern = limits.pattern {
            // The gateway's patterns match the whole text.
            members.append(("pattern", .text("^(?:\(pattern.value))$")))
        }
        if !limits.oneOf.isEmpty {
            members.append(("enum", .list(limits.oneOf.map { literal($0.value, of: kind) })))
        }
        return members
    }

    private static func number(_ number: Config.Number) -> JSONTree {
        .raw(number.integer.map { "\($0)" } ?? spelling(of: number.text) ?? "\(number.value)")
    }

    /// A value that the configuration has as text.
    private static func literal(_ text: String, of kind: String) -> JSONTree {
        switch kind {
        case "integer", "number": .raw(spelling(of: text) ?? "0")
        case "boolean": .raw(text == "true" ? "true" : "false")
        default: .text(text)
        }
    }

    private static func spelling(of text: String) -> String? {
        let type = DocumentNode.Scalar(text: text, isPlain: true).type
        return JSONNumber.spelling(of: text, type: type)
    }
}
