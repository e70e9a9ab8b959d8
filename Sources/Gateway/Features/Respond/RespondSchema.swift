import Basics
import HTTP
import JSONText

// What OpenAPI says about `respond`.
extension RespondPlan {
    /// The names of its header fields. Each may be left out.
    var headerNames: [String] { headers.map { "\($0.name)" } }

    /// The media type and the schema of the body without calls; nil for none.
    var content: (type: String, schema: JSONTree)? {
        // A type with a value of the request may be any.
        let ownType = headers.first { $0.name == .contentType }
            .map { $0.value.constant.map { String($0) } ?? "*/*" }
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
    /// - Parameters:
    ///   - required: the names of the members that each response has
    ///   - isClosed: whether no response has other members
    func change(
        _ properties: inout [(String, JSONTree)], required: inout [String], isClosed: Bool
    ) {
        var whole = JSONTree.object(
            [("properties", .object(properties))]
                + (isClosed ? [("additionalProperties", .raw("false"))] : []))
        for path in droppedPaths {
            whole = whole.removing(path.steps[...])
            guard path.steps.count == 1, case .key(let key) = path.steps[0] else { continue }
            required.removeAll { $0 == String(key) }
        }
        var members = whole.properties ?? []
        for (name, value) in put {
            let name = String(name.plain)
            let schema = isClosed ? value.schema(mayBeNull: false) : .object([])
            if let index = members.firstIndex(where: { $0.0 == name }) {
                members[index].1 = .anyOf(members[index].1, schema)
            } else {
                members.append((name, schema))
                if value.references.isEmpty { required.append(name) }
            }
        }
        whole = whole.setting("properties", .object(members))
        for (path, value) in defaultValues {
            whole = whole.adding(value, at: path.steps[...])
            guard path.steps.count == 1, case .key(let key) = path.steps[0] else { continue }
            if whole.properties?.contains(where: { $0.0 == String(key) }) == true,
                !required.contains(String(key))
            {
                required.append(String(key))
            }
        }
        properties = whole.properties ?? properties
    }
}

extension JSONTree {
    /// A schema that also allows a default at the end of the path. The recursion is as deep as the path.
    fileprivate func adding(_ value: JSONSlice, at path: ArraySlice<JSONPath.Step>) -> JSONTree {
        let constant = JSONTree.object([("const", .raw(String(value.bytes)))])
        guard let step = path.first else { return .anyOf(self, constant) }
        guard self["anyOf"] == nil, self["const"] == nil else { return .object([]) }
        guard case .key(let key) = step else {
            return self["items"].map { setting("items", $0.adding(value, at: path.dropFirst())) }
                ?? self
        }
        guard var members = properties else { return self }
        if let index = members.firstIndex(where: { $0.0 == String(key) }) {
            members[index].1 = members[index].1.adding(value, at: path.dropFirst())
        } else if path.count == 1, self["additionalProperties"] != nil {
            members.append((String(key), constant))
        }
        return setting("properties", .object(members))
    }

    /// The schema without the member at the end of the path. The recursion is as deep as the path.
    fileprivate func removing(_ path: ArraySlice<JSONPath.Step>) -> JSONTree {
        switch path.first {
        case .key(let key)?:
            guard var members = properties,
                let index = members.firstIndex(where: { $0.0 == String(key) })
            else { return self }
            if path.count == 1 {
                members.remove(at: index)
            } else {
                members[index].1 = members[index].1.removing(path.dropFirst())
            }
            return setting("properties", .object(members))
        case .everyElement?:
            return self["items"].map { setting("items", $0.removing(path.dropFirst())) } ?? self
        case .element?, nil: return self
        }
    }

    /// Replaces the value of a key.
    fileprivate func setting(_ key: String, _ value: JSONTree) -> JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.0 == key ? (key, value) : $0 })
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
