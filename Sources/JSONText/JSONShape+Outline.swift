import Basics

// What is known of a shaped value before there is one: the members that `keep` leaves.

extension JSONShape {
    /// The structure that the shape guarantees.
    package indirect enum Outline {
        /// Any JSON value.
        case anything
        /// An array of any values, which `take` with `[]` makes.
        case list
        /// What `keep` leaves: of an object these members and no others, of an array these parts of
        /// its elements. Nil where no object or no array is left.
        case parts(members: [(name: String, value: Outline)]?, element: Outline?)
    }

    /// The structure of every value that the shape makes. A value that `keep` leaves nothing of is
    /// null.
    package var outline: Outline {
        let whole: Outline = take?.isPlural == true ? .list : .anything
        return cut.flatMap(\.outline) ?? whole
    }
}

extension ShapeNode {
    /// Nil where any value may be left. As deep as the shape's paths.
    fileprivate var outline: JSONShape.Outline? {
        guard !isKept else { return nil }
        let kept = members.filter { !$0.node.isDropped && $0.node.leavesSomething }.map { member in
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

    /// Whether a value under this node can be left at all.
    private var leavesSomething: Bool {
        isKept || !members.isEmpty || hasElementRules
    }
}
