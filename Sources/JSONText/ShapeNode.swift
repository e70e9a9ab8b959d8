import Basics

/// The rule of a shape for one value and for the values inside it.
final class ShapeNode: Sendable {
    /// Whether the value or a container of it is kept, so that parts without a rule stay.
    let isKept: Bool
    let isDropped: Bool
    let newName: String?
    /// The new key with quotes and colon.
    let newKey: Bytes?
    let members: [(key: KeyPattern, node: ShapeNode)]
    let elements: [(index: Int, node: ShapeNode)]
    let everyElement: ShapeNode?
    /// The new names of members, and the index of each renamed member.
    let renames: [(name: KeyPattern, member: Int)]

    /// Whether the keys of kept objects, at all levels, are written in camel case, but for those with a
    /// new name.
    let usesCamelCase: Bool

    /// The rule for a value that stays, with keys in camel case.
    static let camelCase = ShapeNode(
        ShapeDraft(), isKept: true, usesCamelCase: true, members: [], elements: [],
        everyElement: nil, renames: [])

    fileprivate init(
        _ draft: ShapeDraft, isKept: Bool, usesCamelCase: Bool,
        members: [(key: KeyPattern, node: ShapeNode)],
        elements: [(index: Int, node: ShapeNode)], everyElement: ShapeNode?,
        renames: [(name: KeyPattern, member: Int)]
    ) {
        self.isKept = isKept
        self.usesCamelCase = usesCamelCase
        isDropped = draft.isDropped
        newName = draft.newName
        newKey = draft.newName.map { JSONName($0).written }
        self.members = members
        self.elements = elements
        self.everyElement = everyElement
        self.renames = renames
    }

    /// The rule for members and elements that have none themselves; nil if they stay as they are, or go.
    var rest: ShapeNode? { isKept && usesCamelCase ? .camelCase : nil }

    var hasElementRules: Bool { everyElement != nil || !elements.isEmpty }

    /// The index in `members` of the rule for a key.
    @inline(__always)
    func rule(for key: JSONCursor.Key, in text: Lookahead) -> Int? {
        for rule in members.indices where members[rule].key.matches(key, in: text) { return rule }
        return nil
    }

    /// The rule for the element at an index, if there is one.
    func element(_ index: Int) -> ShapeNode? {
        for element in elements where element.index == index { return element.node }
        return everyElement
    }
}

/// A `ShapeNode` under construction, to which paths are added.
///
/// Recurses as deep as the longest path, which is limited.
struct ShapeDraft {
    var isKept = false
    var isDropped = false
    var newName: String?
    private var members: [(key: Bytes, node: ShapeDraft)] = []
    private var elements: [(index: Int, node: ShapeDraft)] = []
    /// Empty or one element.
    private var everyElement: [ShapeDraft] = []

    /// Changes the node at the end of the steps; creates missing nodes.
    mutating func mark(
        _ steps: ArraySlice<JSONPath.Step>, _ change: (inout ShapeDraft) -> Void
    ) {
        guard let step = steps.first else { return change(&self) }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            members[memberIndex(key)].node.mark(rest, change)
        case .element(let index):
            elements[elementIndex(index)].node.mark(rest, change)
        case .everyElement:
            if everyElement.isEmpty { everyElement.append(ShapeDraft()) }
            everyElement[0].mark(rest, change)
        }
    }

    func compiled(
        usesCamelCase: Bool, insideKept: Bool = false
    ) throws(JSONShapeError) -> ShapeNode {
        let isKept = isKept || insideKept
        func compiled(_ draft: ShapeDraft) throws(JSONShapeError) -> ShapeNode {
            try draft.compiled(usesCamelCase: usesCamelCase, insideKept: isKept)
        }
        var members: [(key: KeyPattern, node: ShapeNode)] = []
        var renames: [(name: KeyPattern, member: Int)] = []
        for member in self.members {
            if let name = member.node.newName, !member.node.isDropped {
                if renames.contains(where: { $0.name.key == Bytes(name) }) { throw .sameName(name) }
                renames.append((KeyPattern(Bytes(name)), members.count))
            }
            members.append((KeyPattern(member.key), try compiled(member.node)))
        }
        var elements: [(index: Int, node: ShapeNode)] = []
        for var element in self.elements {
            // Rules for every element apply to this one, too.
            if let all = everyElement.first { element.node.merge(all) }
            elements.append((element.index, try compiled(element.node)))
        }
        var everyElement: ShapeNode?
        if let all = self.everyElement.first { everyElement = try compiled(all) }
        return ShapeNode(
            self, isKept: isKept, usesCamelCase: usesCamelCase, members: members,
            elements: elements, everyElement: everyElement,
            renames: renames)
    }

    private mutating func merge(_ other: ShapeDraft) {
        isKept = isKept || other.isKept
        isDropped = isDropped || other.isDropped
        newName = newName ?? other.newName
        for member in other.members { members[memberIndex(member.key)].node.merge(member.node) }
        for element in other.elements {
            elements[elementIndex(element.index)].node.merge(element.node)
        }
        guard let all = other.everyElement.first else { return }
        if everyElement.isEmpty { everyElement.append(ShapeDraft()) }
        everyElement[0].merge(all)
    }

    private mutating func memberIndex(_ key: Bytes) -> Int {
        if let known = members.firstIndex(where: { $0.key == key }) { return known }
        members.append((key, ShapeDraft()))
        return members.count - 1
    }

    private mutating func elementIndex(_ index: Int) -> Int {
        if let known = elements.firstIndex(where: { $0.index == index }) { return known }
        elements.append((index, ShapeDraft()))
        return elements.count - 1
    }
}
