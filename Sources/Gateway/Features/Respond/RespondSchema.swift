import Basics
import HTTP
import JSONText

// What OpenAPI says about `respond`.
extension RespondPlan {
    /// The names of its header fields. Each may be left out.
    var headerNames: [String] { headers.map { "\($0.name)" } }

    /// The media type and the schema of the body without calls; nil for none.
    var content: (type: String, schema: JSONTree)? {
        let ownType = headers.first { $0.name == .contentType }?.value.constant.map { String($0) }
        switch body {
        case nil: return nil
        case .text: return (ownType ?? "text/plain", .object([("type", .text("string"))]))
        case .json(let value): return (ownType ?? "application/json", value.schema(mayBeNull: true))
        }
    }

    /// The schema of the whole body with `root`; nil without it.
    var rootSchema: JSONTree? { root?.schema(mayBeNull: true) }

    /// Changes the members of a response as `drop`, `put` and `default` do.
    ///
    /// - Parameter required: the names of the members that each response has
    func change(_ properties: inout [(String, JSONTree)], required: inout [String]) {
        for path in droppedPaths where path.steps.count == 1 {
            guard case .key(let key) = path.steps[0] else { continue }
            properties.removeAll { $0.0 == String(key) }
            required.removeAll { $0 == String(key) }
        }
        for (name, value) in put {
            let name = String(name.plain)
            let schema = value.schema(mayBeNull: false)
            if let index = properties.firstIndex(where: { $0.0 == name }) {
                properties[index].1 = .anyOf(properties[index].1, schema)
            } else {
                properties.append((name, schema))
                if value.references.isEmpty { required.append(name) }
            }
        }
        for (path, value) in defaultValues {
            properties =
                Self.adding(
                    value, at: path.steps[...],
                    to: .object([
                        ("properties", .object(properties)),
                        ("additionalProperties", .raw("false")),
                    ])
                ).properties ?? properties
            if path.steps.count == 1, case .key(let key) = path.steps[0],
                !required.contains(String(key))
            {
                required.append(String(key))
            }
        }
    }

    /// A schema that also allows the default at the end of the path. The recursion is as deep as the path.
    private static func adding(
        _ value: JSONSlice, at path: ArraySlice<JSONPath.Step>, to schema: JSONTree
    ) -> JSONTree {
        let constant = JSONTree.object([("const", .raw(String(value.bytes)))])
        guard let step = path.first else { return .anyOf(schema, constant) }
        guard case .object(var keywords) = schema, schema["anyOf"] == nil else {
            return .object([])
        }
        switch step {
        case .key(let key):
            guard var properties = schema.properties,
                let place = keywords.firstIndex(where: { $0.0 == "properties" })
            else { return schema }
            if let index = properties.firstIndex(where: { $0.0 == String(key) }) {
                properties[index].1 = adding(value, at: path.dropFirst(), to: properties[index].1)
            } else if path.count == 1 {
                properties.append((String(key), constant))
            }
            keywords[place].1 = .object(properties)
        case .everyElement:
            guard let place = keywords.firstIndex(where: { $0.0 == "items" }) else { return schema }
            keywords[place].1 = adding(value, at: path.dropFirst(), to: keywords[place].1)
        case .element: break
        }
        return .object(keywords)
    }
}

extension ValuePlan {
    /// The recursion is as deep as the value in the configuration.
    ///
    /// - Parameter mayBeNull: whether null stands in its place where it is missing
    fileprivate func schema(mayBeNull: Bool) -> JSONTree {
        switch self {
        case .literal(let json): return .object([("const", .raw(String(json)))])
        case .reference(_, let isTextual): return isTextual ? Self.string(mayBeNull) : .object([])
        case .text: return Self.string(mayBeNull)
        case .list: return .object([("type", .text("array"))])
        case .object(let members):
            let names = members.map { String($0.key.plain) }
            let properties = zip(names, members).map { ($0, $1.value.schema(mayBeNull: false)) }
            let always = zip(names, members).filter { $1.value.references.isEmpty }.map(\.0)
            return .object(
                [
                    ("type", .text("object")), ("properties", .object(properties)),
                    ("additionalProperties", .raw("false")),
                ] + (always.isEmpty ? [] : [("required", .texts(always))]))
        }
    }

    private static func string(_ mayBeNull: Bool) -> JSONTree {
        .object([("type", mayBeNull ? .texts(["string", "null"]) : .text("string"))])
    }
}

extension JSONTree {
    fileprivate static func anyOf(_ left: JSONTree, _ right: JSONTree) -> JSONTree {
        .object([("anyOf", .list([left, right]))])
    }

    fileprivate subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    fileprivate var properties: [(String, JSONTree)]? {
        guard case .object(let members)? = self["properties"] else { return nil }
        return members
    }
}
