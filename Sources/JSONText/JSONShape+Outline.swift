import Basics

// The structure of shaped values that is known in advance: the members that `keep` leaves.

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

extension ShapeNode {
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
