import Basics

/// Sample values of parameters, bodies and media types.
extension Config.Param {
    /// Some valid values; empty if none of the candidates obeys the rules.
    var samples: [String] {
        if !oneOf.isEmpty { return oneOf.map(\.value) }
        return Sample.values(of: self, ruleKind)
    }
}

extension Config.Body {
    /// JSON with every declared member.
    var sample: String { Sample.json(type?.value ?? .object, properties, required.map(\.value)) }

    /// The paths of the properties without a sample, because no candidate obeys their rules:
    /// `address.zip`.
    var pathsWithoutSample: [String] { Sample.pathsWithoutSample(properties, in: "") }
}

extension Config.MediaType {
    /// A type without `*` that it means.
    package var sample: String {
        switch text {
        case "application/*": "application/json"
        case "image/*": "image/png"
        case "text/*": "text/plain"
        default: text.replacing("/*", with: "/sample")
        }
    }
}

private enum Sample {
    /// The candidates that obey the rules; if none does, the bounds, which need not be integers.
    static func values(of limits: some ValueLimits, _ kind: ValueRule.Kind) -> [String] {
        let rule = try? ValueRule(kind, limits)
        let bounds = [limits.min?.value.text, limits.max?.value.text].compactMap { $0 }
        for list in [candidates(limits), bounds] {
            let valid = list.filter { rule?.refusal(of: Bytes($0)) == nil }
            if !valid.isEmpty { return valid }
        }
        return []
    }

    /// Values of all types, typical ones first.
    private static func candidates(_ limits: some ValueLimits) -> [String] {
        let words = ["lamp", "abc", "a", "A1", "en", "2026-01-31", "00000", "ann@example.org"]
        let length = limits.minLength?.value ?? 0
        return numbers(min: limits.min?.value, max: limits.max?.value)
            + ["1.5", "true", "false", "018f3c1e-5b7a-7c3d-9e2f-0123456789ab"] + words
            + [String(repeating: "x", count: Swift.max(1, Swift.min(length, 4096)))]
    }

    /// Up to five integers within the bounds.
    private static func numbers(min: Config.Number?, max: Config.Number?) -> [String] {
        let least = min.flatMap { $0.integer ?? Int(exactly: $0.value.rounded(.up)) }
        let most = max.flatMap { $0.integer ?? Int(exactly: $0.value.rounded(.down)) } ?? .max
        let first = least ?? (most < 1 ? Swift.max(most, .min + 4) - 4 : 1)
        return (0..<5).compactMap { offset in
            let (number, overflow) = first.addingReportingOverflow(offset)
            return overflow || number > most ? nil : "\(number)"
        }
    }

    /// The recursion is as deep as the document that declares the properties.
    static func json(
        _ kind: Config.Property.Kind, _ properties: [Config.Property], _ required: [String]
    ) -> String {
        let known = properties.map { "\"\($0.name.value)\":\(value(of: $0) ?? "\"sample\"")" }
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

    /// As deep as `json`.
    static func pathsWithoutSample(_ properties: [Config.Property], in path: String) -> [String] {
        properties.flatMap { property in
            let name = path + property.name.value
            return value(of: property) == nil
                ? [name] : pathsWithoutSample(property.properties, in: name + ".")
        }
    }

    /// Nil if no candidate obeys the rules of the property.
    private static func value(of property: Config.Property) -> String? {
        let hasMembers = !(property.required.isEmpty && property.properties.isEmpty)
        let kind = property.type?.value ?? (hasMembers ? .object : .string)
        if let one = property.oneOf.first?.value {
            return kind == .string ? "\"\(one)\"" : one
        }
        switch kind {
        case .integer: return values(of: property, .wholeNumber).first
        case .number: return values(of: property, .number).first
        case .string: return values(of: property, .string).first.map { "\"\($0)\"" }
        case .object, .array, .boolean, .null:
            return json(kind, property.properties, property.required.map(\.value))
        }
    }
}
