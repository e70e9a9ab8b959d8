import Basics
import JSONText

/// Compiles a condition: names to indices, constants to typed values, and its text for `explain`.
struct ConditionPlanner {
    let templates: TemplatePlanner

    init(scope: CallScope) {
        templates = TemplatePlanner(scope: scope)
    }

    /// The recursion is as deep as the nesting, which `check` limits.
    func plan(_ condition: Config.Condition) throws(PlanError) -> ConditionPlan {
        if let param = condition.param {
            return try plan(ofParam: param, equal: condition.equal)
        }
        if let value = condition.value { return try plan(testing: value.value, condition) }
        if let part = condition.not.first {
            let part = try plan(part)
            return ConditionPlan(.not(part), text: "not (\(part.text))")
        }
        let isAll = !condition.all.isEmpty
        var parts: [ConditionPlan] = []
        for part in isAll ? condition.all : condition.any { parts.append(try plan(part.value)) }
        guard let first = parts.first else {
            throw PlanError("\(condition.location): an empty condition")
        }
        if parts.count == 1 { return first }
        return ConditionPlan(
            isAll ? .all(parts) : .any(parts),
            text: parts.map(\.textAsPart).joined(separator: isAll ? " and " : " or "))
    }

    private func plan(
        ofParam name: Located<String>, equal: Located<Config.Condition.Operand>?
    ) throws(PlanError) -> ConditionPlan {
        guard let index = templates.scope.param(named: name.value) else {
            throw PlanError("\(name.location): no parameter \(name.value)")
        }
        guard let equal else {
            return ConditionPlan(
                .wasSent(param: index), text: "parameter '\(name.quoted)' is sent")
        }
        guard let text = equal.value.plainText else {
            throw PlanError("\(equal.location): not a text")
        }
        // The text of the value is compared, whatever the type of the parameter.
        let reference = ConditionPlan.Operand.Reference(
            compiled: CompiledTemplate.Reference(
                source: .param(index), name: name.value, isOptional: false),
            isTextual: true)
        return ConditionPlan(
            .test(reference, .equals(.constant(.text(Bytes(text))))),
            text: "parameter '\(name.quoted)' is \(equal.written ?? text)")
    }

    private func plan(
        testing value: LocatedTemplate, _ condition: Config.Condition
    ) throws(PlanError) -> ConditionPlan {
        guard case .reference(let written)? = value.template.segments.first else {
            throw PlanError("\(condition.location): no reference")
        }
        let reference = try templates.operand(written, at: value)
        func plan(_ test: ConditionPlan.Test, _ words: String) -> ConditionPlan {
            ConditionPlan(.test(reference, test), text: "{\(written.text)} \(words)")
        }
        if let right = condition.equal {
            return plan(.equals(try operand(right)), "is \(right.shown)")
        }
        if let right = condition.unequal {
            return plan(.differs(try operand(right)), "is not \(right.shown)")
        }
        if let right = condition.has {
            return plan(.contains(try operand(right)), "has \(right.shown)")
        }
        if let exists = condition.exists?.value {
            return plan(.exists(exists), exists ? "exists" : "does not exist")
        }
        if !condition.oneOf.isEmpty {
            let words = "is one of \(condition.oneOf.shown)"
            return plan(.isOneOf(try operands(condition.oneOf)), words)
        }
        let words = "has any of \(condition.hasAny.shown)"
        return plan(.containsOneOf(try operands(condition.hasAny)), words)
    }

    // MARK: Right sides

    private func operands(
        _ written: [Located<Config.Condition.Operand>]
    ) throws(PlanError) -> [ConditionPlan.Operand] {
        var operands: [ConditionPlan.Operand] = []
        for operand in written { operands.append(try self.operand(operand)) }
        return operands
    }

    private func operand(
        _ written: Located<Config.Condition.Operand>
    ) throws(PlanError) -> ConditionPlan.Operand {
        switch written.value {
        case .constant(let json):
            switch json {
            case Bytes("true"): return .constant(.boolean(true))
            case Bytes("false"): return .constant(.boolean(false))
            default: return .constant(.number(json))
            }
        case .text(let text):
            if let plain = written.value.plainText { return .constant(.text(Bytes(plain))) }
            let segments = text.template.segments
            if segments.count == 1, case .reference(let reference) = segments[0] {
                return .reference(try templates.operand(reference, at: text))
            }
            return .text(try templates.field(text))
        }
    }
}

extension ConditionPlan {
    /// In parentheses where words follow or precede it.
    fileprivate var textAsPart: String {
        switch rule {
        case .all, .any: "(\(text))"
        case .wasSent, .test, .not: text
        }
    }
}

extension Located<Config.Condition.Operand> {
    /// A text in quotes, so that `"3"` differs from `3`; without the values of variables.
    fileprivate var shown: String {
        if let written { return written }
        return switch value {
        case .constant(let json): String(json)
        case .text(let text): String(jsonQuoting: text.shownText)
        }
    }
}

extension [Located<Config.Condition.Operand>] {
    fileprivate var shown: String { map(\.shown).joined(separator: ", ") }
}
