import Basics

/// A member of an object whose keys are written in camel case.
struct CamelCaseMember {
    /// Where the name comes from. Of members with equal names, the one whose source is listed first stays.
    enum Source: Int {
        /// `rename` names it.
        case renamed
        /// The name was in camel case before.
        case spelled
        /// The name was changed.
        case changed
    }

    let source: Source
    /// Whether a path of the shape names it.
    let hasRule: Bool
    /// The hash of the new name; seeded, so that a backend cannot choose names with equal hashes.
    let hash: Int
    /// The key in the source, between its quotes.
    let key: Range<Int>
    /// With the comma before it, in the output.
    let range: Range<Int>
}

extension ShapeWriter {
    /// How many dropped keys are reported.
    private static var droppedKeysMax: Int { 16 }

    /// The recursion, by way of `write`, is as deep as the text: `JSONSlice.depthMax`.
    mutating func writeCamelCaseObject(_ start: Int, _ node: ShapeNode) -> Int {
        let opening = out.count
        let base = camelCaseMembers.count
        var cursor = JSONCursor(text, at: start &+ 1)
        while let key = cursor.nextKey() {
            let rule = node.rule(for: key, in: text).map { node.members[$0].node }
            guard let child = rule ?? node.rest else {
                _ = cursor.takeValue()
                continue
            }
            let before = out.count
            let (source, hash) = writeName(of: key, child)
            let beforeValue = out.count
            cursor.resume(behind: write(cursor.at, child))
            guard out.count > beforeValue else {
                out.removeLast(beforeValue &- before)
                continue
            }
            camelCaseMembers.append(
                CamelCaseMember(
                    source: source, hasRule: rule != nil, hash: hash, key: key.inside,
                    range: before..<out.count))
        }
        dropEqualNames(of: camelCaseMembers[base...], after: opening)
        camelCaseMembers.removeLast(camelCaseMembers.count &- base)
        close(opening, .openBrace, .closeBrace)
        return cursor.at &+ 1
    }

    /// Writes a comma and the new name of a member.
    private mutating func writeName(
        of key: JSONCursor.Key, _ node: ShapeNode
    ) -> (CamelCaseMember.Source, hash: Int) {
        if let newKey = node.newKey, let name = node.newName {
            out.append(.comma)
            out.append(newKey)
            return (.renamed, Array(name.utf8).span.keyHash)
        }
        let inside = text.span(key.inside)
        return key.isEscaped
            ? writeCamelCase(inside.unescaped.span, for: key) : writeCamelCase(inside, for: key)
    }

    private mutating func writeCamelCase(
        _ unescaped: Span<UInt8>, for key: JSONCursor.Key
    ) -> (CamelCaseMember.Source, hash: Int) {
        guard let changed = CamelCase.changed(unescaped) else {
            copyKey(key)
            return (.spelled, unescaped.keyHash)
        }
        out.append(.comma)
        out.append(jsonString: Bytes(changed))
        out.append(.colon)
        return (.changed, changed.span.keyHash)
    }

    /// Notes the members to drop because others have the same name, in the order of the text. `removeDropped`
    /// removes them in one pass: object by object, a value would be moved once for each object around it.
    private mutating func dropEqualNames(
        of members: ArraySlice<CamelCaseMember>, after opening: Int
    ) {
        if members.allSatisfy({ $0.source == .spelled && !$0.hasRule }) { return }
        let order = members.sorted {
            ($0.hash, $0.source.rawValue, $0.range.lowerBound)
                < ($1.hash, $1.source.rawValue, $1.range.lowerBound)
        }
        var dropped: [CamelCaseMember] = []
        var rest = order[...]
        while let first = rest.first {
            let equal = rest.prefix { $0.hash == first.hash }
            rest = rest.dropFirst(equal.count)
            let kept = Self.kept(of: equal)
            dropped += equal.indices.filter { !kept.contains($0) }.map { equal[$0] }
        }
        dropped.sort { $0.range.lowerBound < $1.range.lowerBound }
        var next = opening
        for member in dropped {
            if member.source == .changed { report(member) }
            if member.range.lowerBound == next {
                // The bracket stays, and the comma after the member goes.
                next = member.range.upperBound
                droppedRanges.append((member.range.lowerBound + 1)..<(next + 1))
            } else {
                droppedRanges.append(member.range)
            }
        }
    }

    /// The indices of the members that stay.
    ///
    /// - Parameter equal: members with one name, in order of their source, then of their position
    private static func kept(of equal: ArraySlice<CamelCaseMember>) -> Range<Int> {
        let first = equal[equal.startIndex]
        let best = equal.prefix { $0.source == first.source }
        switch first.source {
        // As without a change of case: the last one that a path names, and all others.
        case .renamed: return best.suffix(1).indices
        case .spelled: return (first.hasRule ? best.suffix(1) : best).indices
        case .changed: return best.prefix(1).indices
        }
    }

    private mutating func report(_ member: CamelCaseMember) {
        guard droppedKeys.count < Self.droppedKeysMax else { return }
        let key = String(decoding: text.span(member.key).unescaped, as: UTF8.self)
        if !droppedKeys.contains(key) { droppedKeys.append(key) }
    }
}

extension Span<UInt8> {
    fileprivate var keyHash: Int {
        var hasher = Hasher()
        for index in 0..<count { hasher.combine(self[index]) }
        return hasher.finalize()
    }
}
