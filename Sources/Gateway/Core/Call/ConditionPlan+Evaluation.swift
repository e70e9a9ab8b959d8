import Basics
import JSONText

/// Whether a condition holds for a request.
package enum ConditionResult: Equatable {
    case holds
    case fails
    /// It depends on a value that is not known: that `explain` does not have, or that is ambiguous
    /// (`UnambiguousValues`).
    case unknown
}

// Evaluates a condition. The recursion is as deep as the nesting, which `check` limits; the work is
// bounded by the number of tests and the sizes of the arrays that `has` searches.
extension ConditionPlan {
    /// Whether the condition holds for a request.
    ///
    /// If a value is missing, only `exists: false` holds.
    package func holds(in values: some ConditionValues) -> Bool {
        result(in: values) == .holds
    }

    package func result(in values: some ConditionValues) -> ConditionResult {
        switch rule {
        case .wasSent(let param):
            guard values.isKnown(.param(param)) else { return .unknown }
            return values.wasSent(param: param) ? .holds : .fails
        case .test(let reference, let test): return test.result(for: reference, in: values)
        case .all(let parts):
            var result = ConditionResult.holds
            for part in parts {
                switch part.result(in: values) {
                case .fails: return .fails
                case .unknown: result = .unknown
                case .holds: break
                }
            }
            return result
        case .any(let parts):
            var result = ConditionResult.fails
            for part in parts {
                switch part.result(in: values) {
                case .holds: return .holds
                case .unknown: result = .unknown
                case .fails: break
                }
            }
            return result
        case .not(let part):
            return switch part.result(in: values) {
            case .holds: .fails
            case .fails: .holds
            case .unknown: .unknown
            }
        }
    }

    /// The part because of which the condition does not hold, as text: of `all`, the first one that
    /// fails.
    package func failing(in values: some ConditionValues) -> String {
        if case .all(let parts) = rule,
            let part = parts.first(where: { $0.result(in: values) == .fails })
        {
            return part.failing(in: values)
        }
        return text
    }
}

extension ConditionPlan.Test {
    fileprivate func result(
        for reference: ConditionPlan.Operand.Reference, in values: some ConditionValues
    ) -> ConditionResult {
        guard values.isKnown(reference.compiled.source) else { return .unknown }
        let value = values.value(of: reference)
        if case .exists(let isExpected) = self {
            return ConditionResult((value != nil) == isExpected)
        }
        guard let value else { return .fails }
        switch self {
        case .equals(let operand):
            return operand.compare(in: values) { $0.equals(value) }
        case .differs(let operand):
            return operand.compare(in: values) { !$0.equals(value) }
        case .contains(let operand):
            return operand.compare(in: values) { value.contains($0) }
        case .isOneOf(let operands):
            return operands.compareAny(in: values) { $0.equals(value) }
        case .containsOneOf(let operands):
            return operands.compareAny(in: values) { value.contains($0) }
        case .exists: return .fails
        }
    }
}

extension ConditionResult {
    fileprivate init(_ holds: Bool) { self = holds ? .holds : .fails }
}

extension [ConditionPlan.Operand] {
    fileprivate func compareAny(
        in values: some ConditionValues, _ isRight: (ComparedValue) -> Bool
    ) -> ConditionResult {
        var result = ConditionResult.fails
        for operand in self {
            switch operand.compare(in: values, isRight) {
            case .holds: return .holds
            case .unknown: result = .unknown
            case .fails: break
            }
        }
        return result
    }
}

extension ConditionPlan.Operand {
    /// Fails if the right side itself is missing.
    fileprivate func compare(
        in values: some ConditionValues, _ isRight: (ComparedValue) -> Bool
    ) -> ConditionResult {
        switch self {
        case .constant(let constant): return ConditionResult(isRight(constant))
        case .reference(let reference):
            guard values.isKnown(reference.compiled.source) else { return .unknown }
            guard let value = values.value(of: reference) else { return .fails }
            return ConditionResult(isRight(value))
        case .text(let template):
            var text: [UInt8] = []
            for piece in template.pieces {
                switch piece {
                case .literal(let bytes): text.append(bytes)
                case .reference(let reference, _):
                    guard values.isKnown(reference.source) else { return .unknown }
                    guard let bytes = values.text(of: reference.source) else { return .fails }
                    text.append(bytes)
                }
            }
            return ConditionResult(isRight(.text(Bytes(text))))
        }
    }
}

extension ConditionValues {
    /// Nil where the value is missing or null.
    fileprivate func value(of reference: ConditionPlan.Operand.Reference) -> ComparedValue? {
        let source = reference.compiled.source
        if reference.isTextual { return text(of: source).map { .text($0) } }
        if let json = json(of: source) { return ComparedValue(json) }
        // A parameter with the type of a number or a truth value is JSON as it is. A body that is
        // not JSON has a text and no type.
        guard case .param = source, let text = text(of: source) else { return nil }
        return text.isTruthValue ? .boolean(text == Bytes("true")) : .number(text)
    }
}

extension Bytes {
    fileprivate var isTruthValue: Bool {
        !isEmpty && (self[0] == UInt8(ascii: "t") || self[0] == UInt8(ascii: "f"))
    }
}

extension ComparedValue {
    /// Nil for null.
    fileprivate init?(_ json: JSONSlice) {
        switch json.kind {
        case .null: return nil
        case .object, .array: self = .container(json)
        case .number: self = .number(json.bytes)
        case .boolean: self = .boolean(json.bytes[0] == UInt8(ascii: "t"))
        case .string:
            guard let text = json.text else { return nil }
            self = .text(text)
        }
    }

    /// Types count: a text never equals a number. Numbers are equal in any spelling; objects and
    /// arrays equal nothing.
    fileprivate func equals(_ other: ComparedValue) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)): left == right
        case (.number(let left), .number(let right)): left.isSameNumber(as: right)
        case (.boolean(let left), .boolean(let right)): left == right
        default: false
        }
    }

    /// Whether it is an array with this element.
    fileprivate func contains(_ element: ComparedValue) -> Bool {
        guard case .container(let json) = self else { return false }
        return json.elements.contains { ComparedValue($0).map(element.equals) ?? false }
    }
}
