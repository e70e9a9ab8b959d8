// Reading character classes, between `[` and `]`.
extension PatternSource {
    /// Reads the members of a class after the `[` at `start`.
    mutating func classMembers(from start: Int) throws(PatternError) -> ScalarSet {
        let isNegated = take("^")
        if peek == "]" { throw PatternError(offset: start, reason: .emptyClass) }
        var members = ScalarMembers()
        while !take("]") {
            members.formUnion(try classItem(of: start))
        }
        return ScalarSet(members, isNegated: isNegated)
    }

    /// One scalar, one escape, or one range.
    private mutating func classItem(of start: Int) throws(PatternError) -> ScalarMembers {
        let itemStart = at
        let first = try classAtom(of: start)
        // A `-` is a character at the end of a class, and next to a whole set such as `\w`.
        guard peek == "-", peek(ahead: 1) != "]", case .scalar(let low) = first else {
            return first.members
        }
        let dash = self
        _ = take("-")
        guard case .scalar(let high) = try classAtom(of: start) else {
            self = dash
            return first.members
        }
        if high < low { throw PatternError(offset: itemStart, reason: .rangeOutOfOrder) }
        return ScalarMembers(low...high)
    }

    private mutating func classAtom(of start: Int) throws(PatternError) -> PatternEscape {
        let itemStart = at
        guard let scalar = next() else { throw PatternError(offset: start, reason: .unclosedClass) }
        if scalar == "\\" { return try escape(from: itemStart) }
        if scalar == "[", peek == ":" { throw PatternError(offset: itemStart, reason: .posixClass) }
        return .scalar(scalar)
    }
}
