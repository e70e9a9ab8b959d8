import Basics

/// Writes what the nodes of a shape leave of one valid text. Its recursion follows the shape's paths,
/// never the text.
struct ShapeWriter: ~Escapable {
    private let text: Lookahead
    private(set) var out: [UInt8] = []
    /// For each object being written, where the members that rules speak of stand in `out`; empty
    /// ranges for those that do not. One stack for all, so that an object costs no allocation.
    private var written: [Range<Int>] = []

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = Lookahead(text)
        out.reserveCapacity(text.count)
    }

    /// Writes what is left of a value; false, and nothing written, where that is nothing.
    mutating func write(_ value: Range<Int>, _ node: ShapeNode) -> Bool {
        switch text.byte(value.lowerBound) {
        case .openBrace where !node.members.isEmpty:
            writeObject(value, node)
        case .openBracket where node.everyElement != nil || !node.elements.isEmpty:
            writeArray(value, node)
        default:
            guard node.isKept else { return false }
            out.append(copying: text.span(value))
        }
        return true
    }

    private mutating func writeArray(_ value: Range<Int>, _ node: ShapeNode) {
        let start = out.count
        var cursor = JSONCursor(text, at: value.lowerBound &+ 1)
        var index = 0
        while let element = cursor.nextElement() {
            let before = out.count
            out.append(.comma)
            if !writeElement(element, node.element(index), isKept: node.isKept) {
                out.removeLast(out.count &- before)
            }
            index &+= 1
        }
        close(start, .openBracket, .closeBracket)
    }

    private mutating func writeElement(
        _ element: Range<Int>, _ rule: ShapeNode?, isKept: Bool
    ) -> Bool {
        if let rule { return !rule.isDropped && write(element, rule) }
        if isKept { out.append(copying: text.span(element)) }
        return isKept
    }

    private mutating func writeObject(_ value: Range<Int>, _ node: ShapeNode) {
        let start = out.count
        let slots = written.count
        written.append(contentsOf: repeatElement(0..<0, count: node.members.count))
        var gone: [Range<Int>] = []
        var claimed: [(range: Range<Int>, by: Int)] = []

        var cursor = JSONCursor(text, at: value.lowerBound &+ 1)
        while let member = cursor.nextMember() {
            let key = text.span(member.key)
            let rule = node.members.firstIndex { key.means($0.key.span) }
            let range = writeMember(member, rule.map { node.members[$0].node }, node)
            if let rule {
                let earlier = written[slots + rule]
                if !earlier.isEmpty { gone.append(earlier) }
                written[slots + rule] = range
                if node.members[rule].node.newKey != nil { continue }
            }
            for claim in node.claims where key.means(claim.name.span) && !range.isEmpty {
                claimed.append((range, claim.by))
            }
        }

        // A new name goes before an old one of the same letters.
        for claim in claimed where !written[slots + claim.by].isEmpty { gone.append(claim.range) }
        written.removeLast(written.count - slots)
        remove(gone)
        close(start, .openBrace, .closeBrace)
    }

    /// Writes a comma and the member, and says where; an empty range where nothing is left of it.
    private mutating func writeMember(
        _ member: JSONCursor.Member, _ rule: ShapeNode?, _ object: ShapeNode
    ) -> Range<Int> {
        let start = out.count
        guard let rule else {
            guard object.isKept else { return 0..<0 }
            writeKey(member)
            out.append(copying: text.span(member.value))
            return start..<out.count
        }
        guard !rule.isDropped else { return 0..<0 }
        if let newKey = rule.newKey {
            out.append(.comma)
            out.append(newKey)
        } else {
            writeKey(member)
        }
        if write(member.value, rule) { return start..<out.count }
        out.removeLast(out.count - start)
        return 0..<0
    }

    private mutating func writeKey(_ member: JSONCursor.Member) {
        out.append(.comma)
        out.append(copying: text.span((member.key.lowerBound &- 1)..<(member.key.upperBound &+ 1)))
        out.append(.colon)
    }

    /// Every member or element was written with a comma before it; the first comma makes room for
    /// the bracket.
    private mutating func close(_ start: Int, _ open: UInt8, _ end: UInt8) {
        if out.count == start { out.append(open) } else { out[start] = open }
        out.append(end)
    }

    /// Takes pieces out of what was written, in one pass.
    private mutating func remove(_ pieces: [Range<Int>]) {
        guard !pieces.isEmpty else { return }
        let pieces = pieces.sorted { $0.lowerBound < $1.lowerBound }
        var target = pieces[0].lowerBound
        var source = target
        for piece in pieces {
            move(source..<max(source, piece.lowerBound), to: &target)
            source = max(source, piece.upperBound)
        }
        move(source..<out.count, to: &target)
        out.removeLast(out.count - target)
    }

    private mutating func move(_ piece: Range<Int>, to target: inout Int) {
        for source in piece {
            out[target] = out[source]
            target += 1
        }
    }
}
