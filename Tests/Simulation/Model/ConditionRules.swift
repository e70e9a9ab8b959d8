import Rehearsal

/// What a condition reads: a request with its calls (`ConditionModel`), or without them
/// (`RequestConditionModel`).
protocol ConditionInput {
    /// Whether the client sent the parameter.
    func wasSent(_ param: String) -> Bool

    /// The text of a parameter, or of its default.
    func text(of param: String) -> String?

    /// Whether a test of the parameter has a known result.
    func isKnown(_ param: String) -> Bool

    /// The possible values, nil for a missing one; nil if they are not known.
    func values(of source: DrawnUse.Source) -> [Tree?]?
}

extension ConditionInput {
    func isKnown(_ param: String) -> Bool { true }
}

/// The rules of conditions, written from the documentation, without the gateway's code. A condition on
/// a value with several possibilities has several possible results.
extension ConditionInput {
    /// The possible results. The recursion is as deep as the drawn condition, and as the chain of calls.
    func results(of condition: DrawnCondition) -> Set<Bool> {
        switch condition {
        case .sent(let name): return isKnown(name) ? [wasSent(name)] : [true, false]
        case .param(let name, let wanted):
            return isKnown(name) ? [text(of: name) == wanted] : [true, false]
        case .not(let part): return Set(results(of: part).map { !$0 })
        case .all(let parts):
            return combined(parts) { $0 && $1 }
        case .any(let parts):
            return combined(parts) { $0 || $1 }
        case .test(let source, let test):
            guard let values = values(of: source) else { return [true, false] }
            return results(of: test, for: values)
        }
    }

    private func combined(
        _ parts: [DrawnCondition], _ join: (Bool, Bool) -> Bool
    ) -> Set<Bool> {
        var sets = parts.map { results(of: $0) }
        var all = sets.removeFirst()
        for set in sets { all = Set(all.flatMap { left in set.map { join(left, $0) } }) }
        return all
    }

    private func results(
        of test: DrawnCondition.DrawnTest, for values: [Tree?]
    ) -> Set<Bool> {
        if case .exists(let isWanted) = test {
            return Set(values.map { ($0 != nil) == isWanted })
        }
        var results: Set<Bool> = []
        for value in values {
            guard let value else {
                results.insert(false)
                continue
            }
            var each: [Set<Bool>] = []
            for operand in test.operands {
                guard let rights = self.values(of: operand) else {
                    each.append([true, false])
                    continue
                }
                each.append(
                    Set(rights.map { right in right.map { test.holds(for: value, $0) } ?? false }))
            }
            // Of `one_of` and `has_any`, one is enough.
            if each.contains(where: { $0.contains(true) }) { results.insert(true) }
            if each.allSatisfy({ $0.contains(false) }) { results.insert(false) }
        }
        return results
    }

    private func values(of operand: DrawnCondition.DrawnOperand) -> [Tree?]? {
        switch operand {
        case .text(let text): [.text(text)]
        case .constant(let text): [.scalar(text)]
        case .source(let source): values(of: source)
        }
    }
}

extension DrawnCondition.DrawnTest {
    /// Whether it holds for a value and one of its right sides.
    fileprivate func holds(for value: Tree, _ right: Tree) -> Bool {
        switch self {
        case .equals, .oneOf: value.isSame(as: right)
        case .differs: !value.isSame(as: right)
        case .has, .hasAny: value.elements?.contains { $0.isSame(as: right) } ?? false
        case .exists: false
        }
    }
}

extension Tree {
    /// Nil for null, which counts as missing.
    var ifPresent: Tree? { self == .null ? nil : self }

    /// Types count, and numbers are equal in any spelling. Objects and arrays equal nothing. Drawn
    /// numbers are exact as `Double`.
    fileprivate func isSame(as other: Tree) -> Bool {
        guard case .scalar(let left) = self, case .scalar(let right) = other else { return false }
        if left.hasPrefix("\"") || right.hasPrefix("\"") { return left == right }
        if let left = Double(left), let right = Double(right) { return left == right }
        return left == right
    }
}
