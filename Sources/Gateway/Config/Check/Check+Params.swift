import Basics
import YAMLReader

/// The rules for parameters and other values of requests.
extension ConfigCheck {
    mutating func checkParams(of endpoint: Config.Endpoint) {
        for param in endpoint.params {
            checkLocation(of: param, in: endpoint)
            let kind = param.type?.value.rawValue ?? "string"
            let title = "parameter '\(param.name.value)'"
            checkBounds(param, kind: kind, of: title)
            if !unread.contains("type", of: param.location) { checkValues(of: param, title) }
        }
    }

    private mutating func checkLocation(of param: Config.Param, in endpoint: Config.Endpoint) {
        guard let route = endpoint.route?.value else { return }
        let name = param.name.value
        let isInPath = route.parameters.contains(name)
        if let location = param.sentIn, (location.value == .path) != isInPath {
            problems.error(
                at: location.location,
                isInPath
                    ? "parameter '\(name)' is in the path of the route, not in the \(location.value)"
                    : "parameter '\(name)' is not in the route \(endpoint.title)")
        }
        guard isInPath else {
            if let required = param.required, required.value, let fallback = param.fallback {
                problems.error(
                    at: fallback.location,
                    "parameter '\(name)' is required, so 'default' is never used")
            }
            return
        }
        for location in [param.fallback?.location, param.required?.location] {
            guard let location else { continue }
            problems.warning(
                at: location, "parameter '\(name)' is in the path, so it is always present")
        }
    }

    /// Bounds must fit the type of the value and each other.
    mutating func checkBounds(_ rules: some ValueLimits, kind: String?, of title: String) {
        checkOrder(of: rules, title)
        // A type that could not be read has been reported already.
        guard !unread.contains("type", of: rules.location) else { return }
        let isNumber = kind == "integer" || kind == "number"
        for (key, location) in [("min", rules.min?.location), ("max", rules.max?.location)] {
            guard let location, !isNumber else { continue }
            problems.error(
                at: location, "'\(key)' of \(title) needs 'type: integer' or 'type: number'")
        }
        let texts = [
            ("min_length", rules.minLength?.location), ("max_length", rules.maxLength?.location),
            ("pattern", rules.pattern?.location),
        ]
        for (key, location) in texts {
            guard let location, kind != "string" else { continue }
            problems.error(at: location, "'\(key)' of \(title) needs 'type: string'")
        }
    }

    /// Whatever the type is.
    private mutating func checkOrder(of rules: some ValueLimits, _ title: String) {
        if let min = rules.min, let max = rules.max, min.value.value > max.value.value {
            problems.error(at: max.location, "'max' of \(title) is less than its 'min'")
        }
        if let min = rules.minLength, let max = rules.maxLength, min.value > max.value {
            problems.error(
                at: max.location, "'max_length' of \(title) is less than its 'min_length'")
        }
    }

    /// The values in the configuration must obey the rules that requests must obey.
    private mutating func checkValues(of param: Config.Param, _ title: String) {
        guard let rule = try? ValueRule(param.ruleKind, param) else { return }
        for value in param.oneOf {
            guard let reason = rule.refusalWithoutChoices(of: Bytes(value.value)) else { continue }
            problems.error(
                at: value.location, "'\(value.quoted)' of \(title) \(param.text(for: reason))")
        }
        guard let fallback = param.fallback, let reason = rule.refusal(of: Bytes(fallback.value))
        else { return }
        problems.error(
            at: fallback.location,
            "the default '\(fallback.quoted)' of \(title) \(param.text(for: reason))")
    }
}

extension Config.Param {
    /// The reason, without a quotation of a rule that a variable has set.
    fileprivate func text(for reason: Reason) -> String {
        let rules = [min?.written, max?.written, minLength?.written, maxLength?.written]
        let texts = [pattern?.written] + oneOf.map(\.written)
        return (rules + texts).contains { $0 != nil } ? "violates its rules" : reason.text
    }
}
