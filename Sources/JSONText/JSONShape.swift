import Basics

/// Transforms a response: `take`, then `keep`, then `drop`, then `rename`.
///
/// Compiled once. `keep`, `drop` and `rename` are one tree and one pass over the text, because all
/// their paths refer to the names of the source; everything else is copied as it was written.
/// Objects and arrays along a path are written compactly, in the order of the source. Of duplicate
/// members that a path names, the last one is kept.
package struct JSONShape: Sendable {
    let take: JSONPath?
    let cut: ShapeNode?

    /// A new name for the member at the end of a path.
    package struct Rename: Sendable {
        package let path: JSONPath
        package let name: String

        package init(_ path: JSONPath, to name: String) {
            self.path = path
            self.name = name
        }
    }

    /// - Parameters:
    ///   - take: the part that replaces the whole; with `[]`, an array of all such parts.
    ///   - keep: the only parts that stay; nil keeps everything.
    ///   - drop: the parts that are removed.
    ///   - rename: new names of members. An existing member with such a name is removed.
    ///   - usesCamelCase: whether all other keys, at all levels, are written in camel case. Of two keys
    ///     that become equal, the one that already has this spelling stays, else the first.
    package init(
        take: JSONPath? = nil, keep: [JSONPath]? = nil, drop: [JSONPath] = [],
        rename: [Rename] = [], usesCamelCase: Bool = false
    ) throws(JSONShapeError) {
        self.take = take
        if keep == nil && drop.isEmpty && rename.isEmpty {
            cut = usesCamelCase ? .camelCase : nil
            return
        }
        var draft = ShapeDraft()
        if let keep {
            for path in keep { draft.mark(path.steps[...]) { $0.isKept = true } }
        } else {
            draft.isKept = true
        }
        for path in drop { draft.mark(path.steps[...]) { $0.isDropped = true } }
        for rename in rename {
            guard case .key = rename.path.steps.last else { throw .renamesElement(rename.path) }
            draft.mark(rename.path.steps[...]) { $0.newName = rename.name }
        }
        cut = try draft.compiled(usesCamelCase: usesCamelCase)
    }

    /// Whether every value passes as it is.
    package var isIdentity: Bool { take == nil && cut == nil }

    /// The shaped value; the same value, not copied, if there is nothing to change.
    ///
    /// - Parameter dropped: receives some keys, as the source spells them, that were left out because
    ///   another key has become equal
    package func applied(
        to value: JSONSlice, reporting dropped: inout [String]
    ) throws(InvalidShape) -> JSONSlice {
        let part = try take.map { path throws(InvalidShape) in try value.taking(path) } ?? value
        guard let cut else { return part }
        var writer = ShapeWriter(part.bytes.span)
        _ = writer.write(0, cut)
        writer.removeDropped()
        if !writer.droppedKeys.isEmpty { dropped += writer.droppedKeys }
        return writer.out.isEmpty ? .null : JSONSlice(known: Bytes(writer.out))
    }
}

/// The path of `take` does not exist: the response does not have the expected structure.
package struct InvalidShape: Error, Equatable {
    package init() {}
}

/// Why valid paths make no valid shape.
package enum JSONShapeError: Error, Equatable, CustomStringConvertible {
    /// Only members have names.
    case renamesElement(JSONPath)
    /// Two members of one object would bear the same name.
    case sameName(String)

    package var description: String {
        switch self {
        case .renamesElement: "only a key can be renamed, not an element of an array"
        case .sameName(let name): "two members of one object would be renamed to '\(name)'"
        }
    }
}

extension JSONSlice {
    fileprivate func taking(_ path: JSONPath) throws(InvalidShape) -> JSONSlice {
        guard path.isPlural else {
            guard let found = value(at: path) else { throw InvalidShape() }
            return found
        }
        var ranges: [Range<Int>] = []
        try Lookahead(bytes.span).collect(path.steps[...], in: 0..<bytes.count, into: &ranges)
        var out: [UInt8] = [.openBracket]
        for found in ranges {
            if out.count > 1 { out.append(.comma) }
            out.append(copying: bytes.span.extracting(found))
        }
        out.append(.closeBracket)
        return JSONSlice(known: Bytes(out))
    }
}

extension Lookahead {
    /// The ranges of all values at the end of a plural path. Every branch must exist.
    fileprivate func collect(
        _ steps: ArraySlice<JSONPath.Step>, in value: Range<Int>, into ranges: inout [Range<Int>]
    ) throws(InvalidShape) {
        let everyIndex = steps.firstIndex(of: .everyElement) ?? steps.endIndex
        guard let found = range(of: steps[..<everyIndex], in: value) else { throw InvalidShape() }
        guard everyIndex < steps.endIndex else { return ranges.append(found) }
        guard byte(found.lowerBound) == .openBracket else { throw InvalidShape() }
        var cursor = JSONCursor(self, at: found.lowerBound &+ 1)
        while let element = cursor.nextElement() {
            try collect(steps[(everyIndex + 1)...], in: element, into: &ranges)
        }
    }
}
