package import YAMLReader

extension Config {
    /// `body:` of an endpoint, the validation of a client's body.
    package struct Body: Sendable {
        package let location: SourceLocation
        package var type: Located<Property.Kind>?
        package var required: [Located<String>] = []
        package var properties: [Property] = []
        /// Bytes.
        package var max: Located<Int>?
        package var unknownFields: Located<UnknownFields>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// What happens to members that `properties` and `required` do not name.
        package enum UnknownFields: String, Sendable, CaseIterable { case keep, refuse }
    }

    /// One of `properties:`, the rules for a member of a body; they can be nested.
    package struct Property: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var type: Located<Kind>?
        package var required: [Located<String>] = []
        package var properties: [Property] = []
        package var min: Located<Number>?
        package var max: Located<Number>?
        package var minLength: Located<Int>?
        package var maxLength: Located<Int>?
        package var pattern: Located<String>?
        package var oneOf: [Located<String>] = []

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }

        package enum Kind: String, Sendable, CaseIterable {
            case object, array, string, integer, number, boolean, null
        }
    }
}

enum BodyKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .block("body", \.body, "validation of the client's JSON body")
    ]
}

extension Config.Body: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("type", \.type, .choice, "JSON type of the value"),
        .list("required", \.required, .list(of: .text), "keys that an object must have"),
        .list("properties", \.properties, .named(), "rules for the values of its keys"),
        .value(
            "max", \.max, .size(upTo: SizeLimits.body),
            default: .description("the endpoint's `max_body`"),
            "maximum size of the body; else 413"),
        .value(
            "unknown_fields", \.unknownFields, .choice,
            default: .choice(PlanDefaults.unknownFields),
            "what happens to members that are not declared: keep them, or refuse with 400"),
    ]
}

extension Config.Property: NamedBlock {
    static let noun = "property"

    static func problem(withName name: String) -> String? { nil }

    static let keys: [BlockKey<Self>] = [
        .value("type", \.type, .choice, "JSON type of the value"),
        .list("required", \.required, .list(of: .text), "keys that an object must have"),
        .list("properties", \.properties, .named(), "rules for the values of its keys"),
        .value("min", \.min, .number, "minimum value"),
        .value("max", \.max, .number, "maximum value"),
        .value("min_length", \.minLength, .length, "minimum number of characters"),
        .value("max_length", \.maxLength, .length, "maximum number of characters"),
        .value("pattern", \.pattern, .pattern, "regular expression that the whole text must match"),
        .list("one_of", \.oneOf, .filledList(of: .spelled), "allowed values"),
    ]
}
