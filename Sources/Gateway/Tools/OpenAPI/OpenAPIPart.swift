import Basics
import JSONText

/// What a call contributes to a response, as a JSON Schema: the fields that `keep` leaves, or the
/// fallback of a call that failed.
struct OpenAPIPart {
    private let call: CallPlan

    init(_ call: CallPlan) {
        self.call = call
    }

    var tree: JSONTree {
        if call.list != nil { return .object([("type", Self.type(["array"], true))]) }
        // The elements of a list in it get members.
        if !call.lists.isEmpty { return .object([]) }
        guard let schema = Self.schema(of: call.shape.outline, mayBeNull: true) else {
            return .object([])
        }
        guard !call.isRequired, case .value(let fallback) = call.fallback, !fallback.isNull else {
            return schema
        }
        return .object([
            (
                "anyOf",
                .list([
                    schema, .object([("const", .raw(String(fallback.bytes)))]),
                ])
            )
        ])
    }

    /// Nil for any value. The recursion is as deep as the paths of the configuration.
    ///
    /// - Parameter mayBeNull: whether the value can be null, as is the value of an empty response,
    ///   and the rest of a value that has none of the fields
    private static func schema(of outline: JSONShape.Outline, mayBeNull: Bool) -> JSONTree? {
        switch outline {
        case .anything: return nil
        case .list: return .object([("type", type(["array"], mayBeNull))])
        case .parts(let members, let element):
            var types: [String] = []
            var keywords: [(String, JSONTree)] = []
            if let members {
                types.append("object")
                let properties = members.map { member in
                    (member.name, schema(of: member.value, mayBeNull: false) ?? .object([]))
                }
                keywords.append(("properties", .object(properties)))
                keywords.append(("additionalProperties", .raw("false")))
            }
            if let element {
                types.append("array")
                if let items = schema(of: element, mayBeNull: false) {
                    keywords.append(("items", items))
                }
            }
            return .object([("type", type(types, mayBeNull))] + keywords)
        }
    }

    private static func type(_ types: [String], _ mayBeNull: Bool) -> JSONTree {
        let all = mayBeNull ? types + ["null"] : types
        return all.count == 1 ? .text(all[0]) : .texts(all)
    }
}
