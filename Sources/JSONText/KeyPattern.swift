import Basics

/// A key to search for, prepared so that almost every other key is rejected by comparing one word.
struct KeyPattern: Sendable {
    /// The key unescaped.
    let key: Bytes
    /// Its first eight bytes, and a mask of those that exist.
    private let head: UInt64
    private let mask: UInt64

    init(_ key: Bytes) {
        self.key = key
        head = Lookahead(key.span).word(0)
        mask = key.count < 8 ? (1 << UInt64(8 * key.count)) - 1 : ~0
    }

    /// Whether a key in valid text, unescaped, equals this key.
    @inline(__always)
    func matches(_ candidate: JSONCursor.Key, in text: Lookahead) -> Bool {
        if candidate.isEscaped { return text.span(candidate.inside).means(key.span) }
        return candidate.inside.count == key.count
            && (text.word(candidate.inside.lowerBound) ^ head) & mask == 0
            && (key.count <= 8 || text.span(candidate.inside).isSame(key.span))
    }
}
