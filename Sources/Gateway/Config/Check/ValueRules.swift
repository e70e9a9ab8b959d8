/// What parameters and properties have in common: rules for one value.
struct ValueRules {
    let min: Placed<Config.Number>?
    let max: Placed<Config.Number>?
    let minLength: Placed<Int>?
    let maxLength: Placed<Int>?
    let pattern: Placed<String>?
    let oneOf: [Placed<String>]

    init(_ param: Config.Param) {
        (min, max) = (param.min, param.max)
        (minLength, maxLength) = (param.minLength, param.maxLength)
        (pattern, oneOf) = (param.pattern, param.oneOf)
    }

    init(_ property: Config.Property) {
        (min, max) = (property.min, property.max)
        (minLength, maxLength) = (property.minLength, property.maxLength)
        (pattern, oneOf) = (property.pattern, property.oneOf)
    }

    /// Why a text breaks the rules for a value of this kind; nil if it does not.
    func problem(with text: String, kind: String) -> String? {
        switch kind {
        case "integer":
            guard let value = Self.integer(text) else { return "is no integer" }
            return problem(with: Double(value))
        case "number":
            guard let value = Self.number(text) else { return "is no number" }
            return problem(with: value)
        case "boolean":
            return ["true", "false"].contains(text) ? nil : "is neither true nor false"
        case "uuid":
            return Self.isUUID(text) ? nil : "is no UUID"
        case "string":
            return problem(withLengthOf: text)
        default:
            return nil
        }
    }

    private func problem(with value: Double) -> String? {
        if let min, value < min.value.value { return "is less than \(min.value.text)" }
        if let max, value > max.value.value { return "is more than \(max.value.text)" }
        return nil
    }

    private func problem(withLengthOf text: String) -> String? {
        let length = text.unicodeScalars.count
        if let minLength, length < minLength.value { return "is shorter than \(minLength.value)" }
        if let maxLength, length > maxLength.value { return "is longer than \(maxLength.value)" }
        return nil
    }

    private static func integer(_ text: String) -> Int? {
        text.hasPrefix("+") ? nil : Int(text)
    }

    private static func number(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
        guard isPlain, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}
