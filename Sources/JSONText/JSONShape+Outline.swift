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
            guard let member = members.first(where: { $0.key.key == key }) else { return isKept }
            return member.node.newName == nil && member.node.canHave(rest)
        case .element, .everyElement:
            // Elements that are left out change the indices of the others.
            guard elements.isEmpty else { return true }
            return everyElement?.canHave(rest) ?? isKept
        }
    }

    /// Nil if any value may be left. Recurses as deep as the shape's paths.
    fileprivate var outline: JSONShape.Outline? {
        guard !isKept else { return nil }
        let kept = members.filter { !$0.node.isDropped && $0.node.canLeaveValues }.map { member in
            (
                name: member.node.newName ?? String(member.key.key),
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
    private var canLeaveValues: Bool {
        isKept || !members.isEmpty || hasElementRules
    }
}
