import Basics
import YAMLReader

/// The rules for conditions: `when` of calls and of rate limits, and `require`.
extension ConfigCheck {
    mutating func checkWhen(of call: Config.Call, in endpoint: Config.Endpoint) {
        guard let condition = call.when else { return }
        checkCondition(condition, of: "call '\(call.name.value)'", in: endpoint)
    }

    /// A condition on the head of a request: it is evaluated before the body is read and before
    /// any call is made.
    mutating func checkRequirement(_ condition: Config.Condition, in endpoint: Config.Endpoint) {
        let title = "'require' of \(endpoint.title)"
        checkCondition(condition, of: title, in: endpoint)
        checkUsesNoCall(condition, title, in: endpoint)
        for reference in condition.references {
            guard case .requestBody = reference.value.source else { continue }
            problems.error(
                at: reference.location,
                "\(title) cannot use {\(reference.value.text)}: it is checked before the body is"
                    + " read")
        }
    }

    /// A condition that is evaluated before any call is made.
    mutating func checkUsesNoCall(
        _ condition: Config.Condition, _ title: String, in endpoint: Config.Endpoint
    ) {
        let calls = endpoint.calls.map(\.name.value)
        for reference in condition.references {
            guard let call = endpoint.call(for: reference.value), calls.contains(call) else {
                continue
            }
            problems.error(
                at: reference.location,
                "\(title) cannot use {\(reference.value.text)}: it is checked before any call is"
                    + " made")
        }
    }

    mutating func checkCondition(
        _ condition: Config.Condition, of title: String, in endpoint: Config.Endpoint
    ) {
        checkParts(of: condition, title, in: endpoint, level: 1)
        for reference in condition.references {
            checkReference(reference, of: title, in: endpoint, isTested: true)
        }
    }

    /// The recursion ends at the maximum level.
    private mutating func checkParts(
        of condition: Config.Condition, _ title: String, in endpoint: Config.Endpoint, level: Int
    ) {
        guard level <= Config.Condition.levelsMax else {
            problems.error(
                at: condition.location,
                "conditions of \(title) are nested deeper than"
                    + " \(Config.Condition.levelsMax) levels")
            return
        }
        checkTest(of: condition, title)
        checkParam(of: condition, title, in: endpoint)
        checkTypes(of: condition, in: endpoint)
        for part in condition.parts {
            checkParts(of: part, title, in: endpoint, level: level + 1)
        }
    }

    /// `value` has exactly one test, `param` only `is`, and a combination none.
    private mutating func checkTest(of condition: Config.Condition, _ title: String) {
        let tests = condition.tests
        if let value = condition.value {
            if tests.isEmpty, !hasUnreadTest(condition) {
                problems.error(
                    at: value.location,
                    "the condition of \(title) needs a test beside 'value': is, is_not, one_of,"
                        + " has, has_any or exists")
            }
            for extra in tests.dropFirst() {
                problems.error(
                    at: extra.location,
                    "'\(tests[0].key)' and '\(extra.key)' exclude each other in a condition of"
                        + " \(title); combine two conditions with 'all' or 'any'")
            }
        } else if condition.param != nil {
            for extra in tests where extra.key != "is" {
                problems.error(
                    at: extra.location,
                    "'\(extra.key)' needs 'value' in a condition of \(title); write value:"
                        + " \"{\(condition.param?.quoted ?? "")}\" instead of 'param'")
            }
        } else if !unread.contains("value", of: condition.location) {
            for extra in tests {
                problems.error(
                    at: extra.location,
                    "'\(extra.key)' needs 'value' in a condition of \(title)")
            }
        }
    }

    /// Whether a test of the condition was written and could not be read.
    private func hasUnreadTest(_ condition: Config.Condition) -> Bool {
        ["is", "is_not", "one_of", "has", "has_any", "exists"].contains {
            unread.contains($0, of: condition.location)
        }
    }

    private mutating func checkParam(
        of condition: Config.Condition, _ title: String, in endpoint: Config.Endpoint
    ) {
        guard let param = condition.param else { return }
        let known = endpoint.parameterNames
        guard known.contains(param.value) else {
            guard hasAllParams(of: endpoint) else { return }
            problems.error(
                at: param.location,
                "\(title): there is no parameter '\(param.quoted)'"
                    + Suggestion.hint(for: param.quoted, among: known))
            return
        }
        guard let value = condition.equal else { return }
        guard let text = value.value.plainText else {
            problems.error(
                at: value.location,
                "'is' beside 'param' has no references; write value: \"{\(param.quoted)}\" instead"
                    + " of 'param'")
            return
        }
        if let rule = endpoint.rule(ofParam: param.value), rule.refusal(of: Bytes(text)) != nil {
            problems.warning(
                at: value.location,
                "parameter '\(param.quoted)' can never be '\(value.written ?? text)'")
        }
    }

    /// Warns of constants whose type the tested value can never have.
    private mutating func checkTypes(
        of condition: Config.Condition, in endpoint: Config.Endpoint
    ) {
        guard let reference = condition.value?.value.template.references.first else { return }
        let types = endpoint.types(of: reference.source)
        for operand in condition.operands {
            guard let type = operand.value.constantType else { continue }
            let isElement = condition.has != nil || !condition.hasAny.isEmpty
            if isElement ? types.contains(.array) : types.contains(type) { continue }
            let reason =
                isElement
                ? "is never an array"
                : types == [.text]
                    ? "is a text and never equals a \(type.rawValue); write it in quotes"
                    : "never equals a \(type.rawValue)"
            problems.warning(
                at: operand.location, "the condition is constant: {\(reference.text)} \(reason)")
            return
        }
    }
}

extension Config.Condition {
    /// The written tests, each with its key.
    fileprivate var tests: [(key: String, location: SourceLocation)] {
        let found: [(String, SourceLocation?)] = [
            ("is", equal?.location), ("is_not", unequal?.location),
            ("one_of", oneOf.first?.location), ("has", has?.location),
            ("has_any", hasAny.first?.location), ("exists", exists?.location),
        ]
        return found.compactMap { key, location in location.map { (key, $0) } }
    }
}

/// The types that the values of a reference may have.
private enum ValueType: String, CaseIterable {
    case text, number, boolean, array
}

extension Config.Condition.Operand {
    /// The text of an operand without references, as `param` compares it.
    package var plainText: String? {
        switch self {
        case .constant(let json): return String(json)
        case .text(let text):
            guard text.template.references.isEmpty else { return nil }
            return text.template.segments.map { segment in
                if case .literal(let literal) = segment { literal } else { "" }
            }.joined()
        }
    }

    /// Nil if the type depends on the request.
    fileprivate var constantType: ValueType? {
        switch self {
        case .constant(let json):
            return [Bytes("true"), Bytes("false")].contains(json) ? .boolean : .number
        case .text(let text):
            let segments = text.template.segments
            return segments.count == 1 && text.template.references.count == 1 ? nil : .text
        }
    }
}

extension Config.Endpoint {
    fileprivate func rule(ofParam name: String) -> ValueRule? {
        guard let param = params.first(where: { $0.name.value == name }) else { return nil }
        return try? ValueRule(param.ruleKind, param)
    }

    fileprivate func types(of source: TemplateText.Source) -> [ValueType] {
        switch source {
        case .name(let name) where parameterNames.contains(name):
            switch params.first(where: { $0.name.value == name })?.type?.value {
            case .integer, .number: [.number]
            case .boolean: [.boolean]
            case .string, .uuid, nil: [.text]
            }
        case .requestHeader, .requestQuery, .requestClient, .requestCaller: [.text]
        case .name, .call, .requestBody: ValueType.allCases
        }
    }
}
