import Basics

// The structure of shaped values that is known in advance: the members that `keep` leaves, and those
// that no shaped value has.

extension JSONShape {
    /// The structure that the shape guarantees.
    package indirect enum Outline {
        /// Any JSON value.
        case anything
        /// An array of any values, the result of `take` with `[]`.
        case list
        /// The result of `keep`: of an object only these members, of an array these parts of its
        /// elements. Nil if no object or no array is left.
        case parts(members: [(name: String, value: Outline)]?, element: Outline?)
    }

    /// The structure of every value that the shape produces. A value of which `keep` leaves nothing
    /// is null.
    package var outline: Outline {
        let whole: Outline = take?.isPlural == true ? .list : .anything
        return cut.flatMap(\.outline) ?? whole
    }
}

extension JSONShape {
    /// Whether a shaped value can have a value at a path, which begins at the result.
    package func canHave(_ path: JSONPath) -> Bool {
        // The result of such a `take` is an array.
        if take?.isPlural == true, case .key? = path.steps.first { return false }
        return cut?.canHave(path.steps[...]) ?? true
    }
}

extension ShapeNode {
    /// Whether the shaped value can have a value at the end of the steps. Recurses as deep as the
    /// shape's paths.
    fileprivate func canHave(_ steps: ArraySlice<JSONPath.Step>) -> Bool {
        guard !isDropped else { return false }
        guard let step = steps.first else { return canLeaveValues }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            if let renamed = renames.first(where: { $0.name.key == key }) {
                return members[renamed.member].node.canHave(rest)
            }
            if usesCamelCase { return canHave(steps, inCamelCase: key) }
            guard let member = members.first(where: { $0.key.key == key }) else { return isKept }
            return member.node.newName == nil && member.node.canHave(rest)
        case .element(let index): return canHave(rest, inElement: index)
        case .everyElement:
            return everyElement?.canHave(rest) ?? isKept
                || elements.contains { $0.node.canHave(rest) }
        }
    }

    /// - Parameter key: the first of the steps, which no member has as its new name
    private func canHave(_ steps: ArraySlice<JSONPath.Step>, inCamelCase key: Bytes) -> Bool {
        let others = isKept && steps.allSatisfy(\.isCamelCase)
        return others
            || members.contains { member in
                member.node.newName == nil && member.key.key.inCamelCase == key
                    && member.node.canHave(steps.dropFirst())
            }
    }

    /// Whether the element at an index of the shaped array can have such a value. Elements of which
    /// nothing is left change the indices of the others.
    private func canHave(_ rest: ArraySlice<JSONPath.Step>, inElement index: Int) -> Bool {
        let others = ElementRule(everyElement, isKept: isKept, rest)
        // Of the elements before the next one, so many are left.
        var (least, most) = (0, 0)
        var next = 0
        for element in elements.sorted(by: { $0.index < $1.index }) {
            let count = element.index - next
            if count > 0, others.canHaveValue, least <= index, index < most + count { return true }
            least += others.isAlwaysLeft ? count : 0
            most += others.canBeLeft ? count : 0
            let rule = ElementRule(element.node, isKept: isKept, rest)
            if rule.canHaveValue, least <= index, index <= most { return true }
            least += rule.isAlwaysLeft ? 1 : 0
            most += rule.canBeLeft ? 1 : 0
            next = element.index + 1
        }
        return others.canHaveValue && least <= index
    }

    /// What the rule for an element means for a path in it.
    private struct ElementRule {
        let canBeLeft: Bool
        /// Whatever the element is.
        let isAlwaysLeft: Bool
        let canHaveValue: Bool

        /// - Parameters:
        ///   - node: nil if there is no rule
        ///   - isKept: whether elements without a rule stay
        init(_ node: ShapeNode?, isKept: Bool, _ rest: ArraySlice<JSONPath.Step>) {
            canBeLeft = node.map { !$0.isDropped && $0.canLeaveValues } ?? isKept
            isAlwaysLeft = node.map { !$0.isDropped && $0.isKept } ?? isKept
            canHaveValue = canBeLeft && (node?.canHave(rest) ?? isKept)
        }
    }

    private func shapedKey(_ key: KeyPattern) -> Bytes {
        usesCamelCase ? key.key.inCamelCase : key.key
    }

    /// Nil if any value may be left. Recurses as deep as the shape's paths.
    fileprivate var outline: JSONShape.Outline? {
        guard !isKept else { return nil }
        let kept = members.filter { !$0.node.isDropped && $0.node.canLeaveValues }.map { member in
            (
                name: member.node.newName ?? String(shapedKey(member.key)),
                value: member.node.outline ?? .anything
            )
        }
        return .parts(
            members: members.isEmpty ? nil : kept, element: hasElementRules ? element : nil)
    }

    /// Elements with rules of their own may differ, so they have no common description.
    private var element: JSONShape.Outline {
        guard elements.isEmpty, let rule = everyElement, !rule.isDropped else { return .anything }
        return rule.outline ?? .anything
    }

    /// Whether the rule can leave a value.
    fileprivate var canLeaveValues: Bool {
        isKept || !members.isEmpty || hasElementRules
    }
}

extension Bytes {
    fileprivate var inCamelCase: Bytes { CamelCase.changed(span).map { Bytes($0) } ?? self }
}

extension JSONPath.Step {
    /// Whether a key can be the result of a change to camel case.
    fileprivate var isCamelCase: Bool {
        if case .key(let key) = self { CamelCase.changed(key.span) == nil } else { true }
    }
}
