/// Parses a pattern into a tree, by recursive descent.
struct PatternParser {
    /// The maximum nesting of groups; it bounds the recursion here and in the compiler.
    static let depthMax = 50

    private(set) var source: PatternSource
    private var depth = 0

    init(_ text: String) {
        source = PatternSource(text)
    }

    mutating func wholePattern() throws(PatternError) -> PatternNode {
        let node = try choice()
        if source.peek != nil { throw source.error(.unopenedGroup) }
        return node
    }

    /// Parses branches with `|` between them, up to a `)` or the end.
    private mutating func choice() throws(PatternError) -> PatternNode {
        var branches = [try sequence()]
        while source.take("|") { branches.append(try sequence()) }
        return .oneOf(branches)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        while let next = source.peek, next != "|", next != ")" {
            parts.append(try repetition())
        }
        return .inOrder(parts)
    }

    /// Parses an atom and its repetition.
    private mutating func repetition() throws(PatternError) -> PatternNode {
        let isAnchor = source.peek == "^" || source.peek == "$"
        let node = try atom()
        let start = source.at
        guard let times = try source.takeRepetition() else { return node }
        if isAnchor {
            throw PatternError(offset: start, reason: .nothingToRepeat)
        }
        // Greedy or not makes no difference to a match of the whole value.
        _ = source.take("?")
        if let next = source.peek, "*+?{".unicodeScalars.contains(next) {
            throw source.error(.nothingToRepeat)
        }
        return node.repeated(least: times.least, most: times.most)
    }

    private mutating func atom() throws(PatternError) -> PatternNode {
        let start = source.at
        guard let scalar = source.next() else { return .empty }
        switch scalar {
        case "(": return try group(from: start)
        case "[": return .one(try source.classMembers(from: start))
        case ".": return .one(ScalarSet(.lineBreaks, isNegated: true))
        case "^": return .start
        case "$": return .end
        case "\\": return .one(ScalarSet(try source.escape(from: start).members))
        case "*", "+", "?": throw PatternError(offset: start, reason: .nothingToRepeat)
        case "{": throw PatternError(offset: start, reason: .brace)
        default: return .one(ScalarSet(ScalarMembers(scalar)))
        }
    }

    /// Parses a group after its `(`.
    private mutating func group(from start: Int) throws(PatternError) -> PatternNode {
        if depth == PatternParser.depthMax { throw PatternError(offset: start, reason: .tooDeep) }
        try source.takeGroupKind(from: start)
        depth += 1
        let node = try choice()
        depth -= 1
        if !source.take(")") { throw PatternError(offset: start, reason: .unclosedGroup) }
        return node
    }
}
