import Basics

/// Sample values of parameters and bodies.
extension Config.Param {
    /// Some valid values; empty if none of the candidates matches the pattern.
    var samples: [String] {
        if !oneOf.isEmpty { return oneOf.map(\.value) }
        let rule = try? ValueRule(ruleKind, self)
        let candidates = Sample.candidates(
            min: min?.value.integer, max: max?.value.integer, minLength: minLength?.value ?? 0)
        return candidates.filter { rule?.refusal(of: Bytes($0)) == nil }
    }
}

extension Config.Body {
    /// JSON with every declared member.
    var sample: String { Sample.json(type?.value ?? .object, properties, required.map(\.value)) }
}

private enum Sample {
    /// Values of all types, typical ones first.
    static func candidates(min: Int?, max: Int?, minLength: Int) -> [String] {
        let least = min ?? 1
        let numbers = (0..<5).map { "\(Swift.min(least + $0, max ?? .max))" }
        let words = ["lamp", "abc", "a", "A1", "en", "2026-01-31", "00000", "ann@example.org"]
        return numbers + ["1.5", "true", "false", "018f3c1e-5b7a-7c3d-9e2f-0123456789ab"] + words
            + [String(repeating: "x", count: Swift.max(1, Swift.min(minLength, 4096)))]
    }

    /// The recursion is as deep as the document that declares the properties.
    static func json(
        _ kind: Config.Property.Kind, _ properties: [Config.Property], _ required: [String]
    ) -> String {
        let known = properties.map { "\"\($0.name.value)\":\(value(of: $0))" }
        let others = required.filter { name in !properties.contains { $0.name.value == name } }
            .map { "\"\($0)\":\"sample\"" }
        switch kind {
        case .object: return "{" + (known + others).joined(separator: ",") + "}"
        case .array: return "[]"
        case .string: return "\"sample\""
        case .integer, .number: return "1"
        case .boolean: return "true"
        case .null: return "null"
        }
    }

    private static func value(of property: Config.Property) -> String {
        let kind = property.type?.value ?? (property.properties.isEmpty ? .string : .object)
        if let one = property.oneOf.first?.value {
            return kind == .string ? "\"\(one)\"" : one
        }
        switch kind {
        case .integer, .number: return property.min?.value.text ?? property.max?.value.text ?? "1"
        case .string:
            let candidates = candidates(
                min: nil, max: nil, minLength: property.minLength?.value ?? 0)
            let rule = try? ValueRule(.string, property)
            return "\"\(candidates.first { rule?.refusal(of: Bytes($0)) == nil } ?? "sample")\""
        case .object, .array, .boolean, .null:
            return json(kind, property.properties, property.required.map(\.value))
        }
    }
}
