/// Walks over text that is known to be valid, checking nothing again.
///
/// It gives out ranges and no slices, so that a walk retains and releases nothing.
struct JSONCursor: ~Escapable {
    private let text: Lookahead
    private(set) var at: Int

    /// One member of an object.
    struct Member {
        /// The key without its quotes.
        let key: Range<Int>
        let value: Range<Int>
    }

    /// `at` is behind the opening bracket of an object or array, or behind one of its values.
    @_lifetime(copy text)
    init(_ text: Lookahead, at: Int) {
        self.text = text
        self.at = at
    }

    /// The next member of the object; nil at its end.
    mutating func nextMember() -> Member? {
        guard findNext() else { return nil }
        let keyEnd = text.stringEnd(at)
        let key = (at &+ 1)..<(keyEnd &- 1)
        at = text.afterSpace(text.afterSpace(keyEnd) &+ 1)
        return Member(key: key, value: takeValue())
    }

    /// The next element of the array; nil at its end.
    mutating func nextElement() -> Range<Int>? {
        findNext() ? takeValue() : nil
    }

    private mutating func takeValue() -> Range<Int> {
        let start = at
        at = text.valueEnd(at)
        return start..<at
    }

    /// Goes to the next member or element.
    private mutating func findNext() -> Bool {
        at = text.afterSpace(at)
        if text.byte(at) == .comma { at = text.afterSpace(at &+ 1) }
        let byte = text.byte(at)
        return byte != .closeBrace && byte != .closeBracket && at < text.count
    }
}
