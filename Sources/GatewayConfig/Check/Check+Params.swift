import Basics
import YAMLReader

extension ConfigCheck {
    mutating func checkParams(of endpoint: Config.Endpoint) {
        for param in endpoint.params {
            checkLocation(of: param, in: endpoint)
            let kind = param.type?.value.rawValue ?? "string"
            let title = "parameter '\(param.name.value)'"
            checkBounds(param, kind: kind, of: title)
            if !unread.contains("type", of: param.place) { checkValues(of: param, title) }
        }
    }

    private mutating func checkLocation(of param: Config.Param, in endpoint: Config.Endpoint) {
        guard let route = endpoint.route?.value else { return }
        let name = param.name.value
        let isInPath = route.parameters.contains(name)
        if let location = param.location, (location.value == .path) != isInPath {
            problems.error(
                at: location.place,
                isInPath
                    ? "parameter '\(name)' is in the path of the route, not in the \(location.value)"
                    : "parameter '\(name)' is not in the route \(endpoint.title)")
        }
        guard isInPath else {
            if let required = param.required, required.value, let fallback = param.fallback {
                problems.error(
                    at: fallback.place,
                    "parameter '\(name)' is required, so 'default' is never used")
            }
            return
        }
        for place in [param.fallback?.place, param.required?.place] {
            guard let place else { continue }
            problems.warning(at: place, "parameter '\(name)' is in the path, so it is always there")
        }
    }

    /// Bounds that fit the kind of value, and each other.
    mutating func checkBounds(_ rules: some ValueLimits, kind: String?, of title: String) {
        // A kind that could not be read is reported already.
        guard !unread.contains("type", of: rules.place) else { return }
        let isNumber = kind == "integer" || kind == "number"
        for (key, place) in [("min", rules.min?.place), ("max", rules.max?.place)] {
            guard let place, !isNumber else { continue }
            problems.error(
                at: place, "'\(key)' of \(title) needs 'type: integer' or 'type: number'")
        }
        let texts = [
            ("min_length", rules.minLength?.place), ("max_length", rules.maxLength?.place),
            ("pattern", rules.pattern?.place),
        ]
        for (key, place) in texts {
            guard let place, kind != "string" else { continue }
            problems.error(at: place, "'\(key)' of \(title) needs 'type: string'")
        }
        if let min = rules.min, let max = rules.max, min.value.value > max.value.value {
            problems.error(at: max.place, "'max' of \(title) is less than its 'min'")
        }
        if let min = rules.minLength, let max = rules.maxLength, min.value > max.value {
            problems.error(at: max.place, "'max_length' of \(title) is less than its 'min_length'")
        }
    }

    /// The values that are written have to obey the rules themselves, those that requests are held
    /// against.
    private mutating func checkValues(of param: Config.Param, _ title: String) {
        guard let rule = try? ValueRule(param.ruleKind, param) else { return }
        for value in param.oneOf {
            guard let reason = rule.refusalBesideChoices(of: Bytes(value.value)) else { continue }
            problems.error(
                at: value.place, "'\(value.quoted)' of \(title) \(param.words(for: reason))")
        }
        guard let fallback = param.fallback, let reason = rule.refusal(of: Bytes(fallback.value))
        else { return }
        problems.error(
            at: fallback.place,
            "the default '\(fallback.quoted)' of \(title) \(param.words(for: reason))")
    }
}

extension Config.Param {
    /// The reason, unless it would quote a rule that a variable has set.
    fileprivate func words(for reason: Reason) -> String {
        let rules = [min?.written, max?.written, minLength?.written, maxLength?.written]
        let texts = [pattern?.written] + oneOf.map(\.written)
        return (rules + texts).contains { $0 != nil } ? "does not obey its rules" : reason.text
    }
}
