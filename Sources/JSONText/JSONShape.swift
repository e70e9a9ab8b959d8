import Basics

/// What is left of an answer: `take`, then `keep`, then `drop`, then `rename`.
///
/// Compiled once. The three that cut are one tree and one walk over the text, for all their paths
/// refer to the same names, those of the source; everything else is copied as it was
/// written. Objects and arrays that a path leads through are written anew, compactly, in the order
/// of the source. Where a member that a path names comes twice, the last one counts and is left.
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
    ///   - take: the part that replaces the whole; with `[]` in it, an array of all such parts.
    ///   - keep: nothing else stays; nil keeps everything.
    ///   - drop: what goes.
    ///   - rename: sibling names. A member that bears such a name already gives way.
    package init(
        take: JSONPath? = nil, keep: [JSONPath]? = nil, drop: [JSONPath] = [], rename: [Rename] = []
    ) throws(JSONShapeError) {
        self.take = take
        if keep == nil && drop.isEmpty && rename.isEmpty {
            cut = nil
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
        cut = try draft.compiled()
    }

    /// Whether every value passes as it is.
    package var isIdentity: Bool { take == nil && cut == nil }

    /// The shaped value; the same one, not copied, where there is nothing to do.
    package func applied(to value: JSONSlice) throws(InvalidShape) -> JSONSlice {
        let taken = try take.map { path throws(InvalidShape) in try value.taking(path) } ?? value
        guard let cut else { return taken }
        var writer = ShapeWriter(taken.bytes.span)
        _ = writer.write(0, cut)
        return writer.out.isEmpty ? .null : JSONSlice(known: Bytes(writer.out))
    }
}

/// `take` led nowhere: the answer does not have the shape that was agreed upon.
package struct InvalidShape: Error, Equatable {
    package init() {}
}

/// Why paths that are good by themselves make no shape.
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
            guard let place = value(at: path) else { throw InvalidShape() }
            return place
        }
        var places: [Range<Int>] = []
        try Lookahead(bytes.span).collect(path.steps[...], in: 0..<bytes.count, into: &places)
        var out: [UInt8] = [.openBracket]
        for place in places {
            if out.count > 1 { out.append(.comma) }
            out.append(copying: bytes.span.extracting(place))
        }
        out.append(.closeBracket)
        return JSONSlice(known: Bytes(out))
    }
}

extension Lookahead {
    /// All places at the end of a plural path. Every branch must lead somewhere.
    fileprivate func collect(
        _ steps: ArraySlice<JSONPath.Step>, in value: Range<Int>, into places: inout [Range<Int>]
    ) throws(InvalidShape) {
        let fork = steps.firstIndex(of: .everyElement) ?? steps.endIndex
        guard let place = place(of: steps[..<fork], in: value) else { throw InvalidShape() }
        guard fork < steps.endIndex else { return places.append(place) }
        guard byte(place.lowerBound) == .openBracket else { throw InvalidShape() }
        var cursor = JSONCursor(self, at: place.lowerBound &+ 1)
        while let element = cursor.nextElement() {
            try collect(steps[(fork + 1)...], in: element, into: &places)
        }
    }
}
