import Rehearsal

/// The model of `when`: which results the condition of a call can have in a recorded run. It is
/// written from the documentation, without the gateway's code.
///
/// A condition on a response has several possible results if the call has several possible outcomes.
struct ConditionModel {
    let record: RunRecord
    let request: RequestRecord
    let endpoint: DrawnEndpoint
    let config: DrawnConfig
    /// The failures that the response lists, if it lists any.
    var listed: [ListedFailure] = []

    private var model: RequestModel { RequestModel(request: request.request, config: config) }

    func canBeMade(_ call: DrawnCall) -> Bool { results(of: call).contains(true) }
    func mustBeMade(_ call: DrawnCall) -> Bool { !results(of: call).contains(false) }

    /// The possible results of a call's condition.
    private func results(of call: DrawnCall) -> Set<Bool> {
        call.when.map(results) ?? [true]
    }

    /// The recursion is as deep as the drawn condition, and as the chain of calls.
    private func results(of condition: DrawnCondition) -> Set<Bool> {
        switch condition {
        case .sent(let name): return [model.wasSent(name)]
        case .param(let name, let wanted): return [model.value(of: name) == wanted]
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
                guard let rights = self.values(of: operand) else { return [true, false] }
                each.append(
                    Set(
                        rights.map { right in
                            guard let right else { return false }
                            if case .differs = test { return !value.isSame(as: right) }
                            return value.isSame(as: right)
                        }))
            }
            // Of `one_of`, one is enough.
            if each.contains(where: { $0.contains(true) }) { results.insert(true) }
            if each.allSatisfy({ $0.contains(false) }) { results.insert(false) }
        }
        return results
    }

    // MARK: Values

    private func values(of operand: DrawnCondition.DrawnOperand) -> [Tree?]? {
        switch operand {
        case .text(let text): [.text(text)]
        case .constant(let text): [.scalar(text)]
        case .source(let source): values(of: source)
        }
    }

    /// The possible values, nil for a missing one; nil if they are not known.
    private func values(of source: DrawnUse.Source) -> [Tree?]? {
        guard case .call(let index, let path) = source else {
            return [value(of: source)]
        }
        let other = endpoint.calls[index]
        let results = results(of: other)
        guard results.contains(true) else { return [nil] }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        if evidence.isAmbiguous || record.mayLackRoom { return nil }
        var values = evidence.values.map { $0.value(at: TreePath(path))?.ifPresent }
        let hasFailed = listed.contains { $0.call == other.name && $0.kind != .collision }
        if values.isEmpty || hasFailed { values.append(nil) }
        return values
    }

    private func value(of source: DrawnUse.Source) -> Tree? {
        guard let text = model.value(of: source) else { return nil }
        if case .param(let name) = source,
            endpoint.params.contains(where: { $0.name == name && $0.isInteger })
        {
            return .scalar(text)
        }
        return .text(text)
    }
}

extension Tree {
    /// Nil for null, which counts as missing.
    fileprivate var ifPresent: Tree? { self == .null ? nil : self }

    /// Types count, and numbers are equal in any spelling. Objects and arrays equal nothing. Drawn
    /// numbers are exact as `Double`.
    fileprivate func isSame(as other: Tree) -> Bool {
        guard case .scalar(let left) = self, case .scalar(let right) = other else { return false }
        if left.hasPrefix("\"") || right.hasPrefix("\"") { return left == right }
        if let left = Double(left), let right = Double(right) { return left == right }
        return left == right
    }
}
