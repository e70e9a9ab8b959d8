import Basics
import JSONText

// From the configuration. It recurses as deep as the configuration nests, which its reader bounds.
extension BodySchema {
    init(_ body: Config.Body) throws(PlanError) {
        self.init(
            kind: Self.kind(body.type, body.required, body.properties), rule: nil,
            members: try Member.all(body.properties, required: body.required))
    }

    init(_ property: Config.Property) throws(PlanError) {
        let kind = Self.kind(property.type, property.required, property.properties)
        self.init(
            kind: kind, rule: try property.rule(for: kind),
            members: try Member.all(property.properties, required: property.required))
    }

    /// What has members is an object: JSON Schema would let every other kind through where no type is
    /// written, and nobody means that.
    private static func kind(
        _ type: Placed<Config.Property.Kind>?, _ required: [Placed<String>],
        _ properties: [Config.Property]
    ) -> Config.Property.Kind? {
        type?.value ?? (required.isEmpty && properties.isEmpty ? nil : .object)
    }

    /// A value that nothing is said about.
    private init() {
        self.init(kind: nil, rule: nil, members: [])
    }

    private init(kind: Config.Property.Kind?, rule: ValueRule?, members: [Member]) {
        self.kind = kind?.ofJSON
        self.wrongKind = rule?.wrongKind ?? kind?.reason ?? .notJSON
        self.rule = rule
        self.members = members
    }
}

extension BodySchema.Member {
    fileprivate static func all(
        _ properties: [Config.Property], required: [Placed<String>]
    ) throws(PlanError) -> [BodySchema.Member] {
        let required = required.map(\.value)
        var members: [BodySchema.Member] = []
        for property in properties {
            let name = property.name.value
            members.append(
                BodySchema.Member(
                    name: name, key: Bytes(name), isRequired: required.contains(name),
                    schema: try BodySchema(property)))
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
    fileprivate func rule(for kind: Kind?) throws(PlanError) -> ValueRule? {
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
