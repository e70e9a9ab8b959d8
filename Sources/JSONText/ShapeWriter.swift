import Basics

/// Writes the part of one valid text that a shape leaves, in one pass.
///
/// Recurses along the shape's paths; with a change of case along the text, whose depth is bounded.
struct ShapeWriter: ~Escapable {
    let text: Lookahead
    var out: [UInt8] = []
    /// For each object being written, the offsets in `out` of the members that have rules; empty
    /// ranges for those that do not. One stack for all, so that an object costs no allocation.
    private var written: [Range<Int>] = []
    /// The members of the objects that are written in camel case; one stack for all, too.
    var camelCaseMembers: [CamelCaseMember] = []
    /// Keys that were left out, because another one has become equal, and where they are in `out`.
    var droppedKeys: [String] = []
    var droppedRanges: [Range<Int>] = []

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = Lookahead(text)
        out.reserveCapacity(text.count)
    }

    /// Writes the remaining part of the value at `start`, or nothing, and returns the end of the
    /// value.
    mutating func write(_ start: Int, _ node: ShapeNode) -> Int {
        if !node.isDropped {
            switch text.byte(start) {
            case .openBrace where !node.members.isEmpty || node.rest != nil:
                return node.usesCamelCase
                    ? writeCamelCaseObject(start, node) : writeObject(start, node)
            case .openBracket where node.hasElementRules || node.rest != nil:
                return writeArray(start, node)
            default: break
            }
        }
        let end = text.valueEnd(start)
        if node.isKept && !node.isDropped { copy(start..<end) }
        return end
    }

    private mutating func writeArray(_ start: Int, _ node: ShapeNode) -> Int {
        let opening = out.count
        var cursor = JSONCursor(text, at: start &+ 1)
        var index = 0
        while cursor.findNext() {
            let comma = out.count
            out.append(.comma)
            if let rule = node.element(index) ?? node.rest {
                cursor.resume(behind: write(cursor.at, rule))
            } else {
                let element = cursor.takeValue()
                if node.isKept { copy(element) }
            }
            if out.count == comma &+ 1 { out.removeLast() }
            index &+= 1
        }
        close(opening, .openBracket, .closeBracket)
        return cursor.at &+ 1
    }

    private mutating func writeObject(_ start: Int, _ node: ShapeNode) -> Int {
        let opening = out.count
        let base = written.count
        for _ in node.members.indices { written.append(0..<0) }
        var removed: [Range<Int>] = []
        var replaced: [(range: Range<Int>, member: Int)] = []

        var cursor = JSONCursor(text, at: start &+ 1)
        while let key = cursor.nextKey() {
            let before = out.count
            let rule = node.rule(for: key, in: text)
            if let rule {
                writeRuled(key, node.members[rule].node, &cursor)
                let earlier = written[base + rule]
                if !earlier.isEmpty { removed.append(earlier) }
                written[base + rule] = before..<out.count
                if node.members[rule].node.newKey != nil { continue }
            } else {
                let value = cursor.takeValue()
                if node.isKept { copy(key, value) }
            }
            for rename in node.renames where rename.name.matches(key, in: text) {
                replaced.append((before..<out.count, rename.member))
            }
        }

        // A renamed member replaces an existing member with its new name.
        for rename in replaced where !written[base + rename.member].isEmpty {
            removed.append(rename.range)
        }
        written.removeLast(written.count - base)
        remove(removed)
        close(opening, .openBrace, .closeBrace)
        return cursor.at &+ 1
    }

    /// Writes a comma and a member that has a rule, or nothing if the rule removes all of it.
    private mutating func writeRuled(
        _ key: JSONCursor.Key, _ rule: ShapeNode, _ cursor: inout JSONCursor
    ) {
        let comma = out.count
        if let newKey = rule.newKey {
            out.append(.comma)
            out.append(newKey)
        } else {
            copyKey(key)
        }
        let beforeValue = out.count
        cursor.resume(behind: write(cursor.at, rule))
        if out.count == beforeValue { out.removeLast(beforeValue &- comma) }
    }

    /// Copies a member with a comma before it.
    @inline(__always)
    private mutating func copy(_ key: JSONCursor.Key, _ value: Range<Int>) {
        // In compact text the byte before the key is the comma, or the bracket, which `close`
        // overwrites.
        let isCompact =
            key.inside.upperBound &+ 2 == value.lowerBound
            && text.byte(key.inside.lowerBound &- 2) > .space
        if isCompact {
            copy((key.inside.lowerBound &- 2)..<value.upperBound)
        } else {
            copyKey(key)
            copy(value)
        }
    }

    mutating func copyKey(_ key: JSONCursor.Key) {
        out.append(.comma)
        copy((key.inside.lowerBound &- 1)..<(key.inside.upperBound &+ 1))
        out.append(.colon)
    }

    @inline(__always)
    private mutating func copy(_ range: Range<Int>) { out.append(copying: text.span(range)) }

    /// Every member or element was written with a comma before it; the first comma makes room for
    /// the bracket.
    mutating func close(_ opening: Int, _ open: UInt8, _ end: UInt8) {
        if out.count == opening { out.append(open) } else { out[opening] = open }
        out.append(end)
    }

    /// Removes the members that were dropped.
    mutating func removeDropped() { remove(droppedRanges) }

    /// Removes ranges of the output, in one pass. A range may contain others.
    mutating func remove(_ pieces: [Range<Int>]) {
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
