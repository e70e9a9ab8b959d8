import Basics
import JSONText
import Patterns

// Compiles the schema. The recursion is as deep as the configuration's nesting, which its reader
// limits.
extension BodySchema {
    init(_ body: Config.Body) throws(PatternError) {
        let hasMembers = !body.required.isEmpty || !body.properties.isEmpty
        let isClosed = (body.unknownFields?.value ?? PlanDefaults.unknownFields) == .refuse
        self.init(
            kind: body.type?.value ?? (hasMembers ? .object : nil), rule: nil,
            members: try Member.all(
                body.properties, required: body.required, isClosed: isClosed),
            isClosed: isClosed)
    }

    init(_ property: Config.Property, isClosed: Bool) throws(PatternError) {
        let kind = property.kind
        self.init(
            kind: kind, rule: try property.rule(for: kind),
            members: try Member.all(
                property.properties, required: property.required, isClosed: isClosed),
            isClosed: isClosed)
    }

    /// Accepts any value.
    private init() {
        self.init(kind: nil, rule: nil, members: [], isClosed: false)
    }

    /// - Parameter isClosed: whether an object with declared members may have no others
    private init(
        kind: Config.Property.Kind?, rule: ValueRule?, members: [Member], isClosed: Bool
    ) {
        self.kind = kind?.ofJSON
        self.wrongKind = rule?.wrongKind ?? kind?.reason ?? .notJSON
        self.rule = rule
        self.members = members
        self.isClosed = isClosed && !members.isEmpty
    }
}

extension BodySchema.Member {
    fileprivate static func all(
        _ properties: [Config.Property], required: [Located<String>], isClosed: Bool
    ) throws(PatternError) -> [BodySchema.Member] {
        let required = required.map(\.value)
        var members: [BodySchema.Member] = []
        for property in properties {
            let name = property.name.value
            members.append(
                BodySchema.Member(
                    name: name, key: Bytes(name), isRequired: required.contains(name),
                    schema: try BodySchema(property, isClosed: isClosed)))
        }
        for name in required where !members.contains(where: { $0.name == name }) {
            members.append(
                BodySchema.Member(
                    name: name, key: Bytes(name), isRequired: true, schema: BodySchema()))
        }
        return members
    }
}

extension Config.Property {
    /// A property with members is an object: without a type, JSON Schema would accept every other
    /// kind, which is never intended.
    fileprivate var kind: Kind? {
        if let type { return type.value }
        return required.isEmpty && properties.isEmpty ? nil : .object
    }

    fileprivate func rule(for kind: Kind?) throws(PatternError) -> ValueRule? {
        switch kind {
        case .string: try ValueRule(.string, self)
        case .integer: try ValueRule(.wholeNumber, self)
        case .number: try ValueRule(.number, self)
        case .boolean: try ValueRule(.boolean, self)
        case .object, .array, .null: nil
        case nil: oneOf.isEmpty ? nil : try ValueRule(.string, self)
        }
    }
}

extension Config.Property.Kind {
    fileprivate var ofJSON: JSONSlice.Kind {
        switch self {
        case .object: .object
        case .array: .array
        case .string: .string
        case .integer, .number: .number
        case .boolean: .boolean
        case .null: .null
        }
    }

    fileprivate var reason: Reason {
        switch self {
        case .object: .object
        case .array: .array
        case .string: .string
        case .integer: .integer(Reason.Bounds())
        case .number: .number(Reason.Bounds())
        case .boolean: .boolean
        case .null: .null
        }
    }
}
