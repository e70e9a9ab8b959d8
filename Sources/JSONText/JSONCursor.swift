/// Iterates over the members and elements of text that is known to be valid.
///
/// It returns ranges and no slices, so that iteration retains and releases nothing.
struct JSONCursor: ~Escapable {
    private let text: Lookahead
    private(set) var at: Int

    /// The name of a member.
    struct Key {
        /// The bytes between the quotes.
        let inside: Range<Int>
        let isEscaped: Bool
    }

    /// One member of an object.
    struct Member {
        let key: Key
        let value: Range<Int>
    }

    /// `at` is after the opening bracket of an object or array, or after one of its values.
    @_lifetime(copy text)
    init(_ text: Lookahead, at: Int) {
        self.text = text
        self.at = at
    }

    /// The next key of the object; nil at its end. Then `at` is where the value starts.
    @inline(__always)
    mutating func nextKey() -> Key? {
        guard findNext() else { return nil }
        var isEscaped = false
        let end = text.stringEnd(at, isEscaped: &isEscaped)
        let key = Key(inside: (at &+ 1)..<(end &- 1), isEscaped: isEscaped)
        at = text.afterSpace(text.afterSpace(end) &+ 1)
        return key
    }

    /// Moves to the start of the next element of the array; false at its end.
    @inline(__always)
    mutating func findNext() -> Bool {
        at = text.afterSpace(at)
        if text.byte(at) == .comma { at = text.afterSpace(at &+ 1) }
        let byte = text.byte(at)
        return byte != .closeBrace && byte != .closeBracket && at < text.count
    }

    /// Skips the value that starts here, and returns its range.
    @inline(__always)
    mutating func takeValue() -> Range<Int> {
        let start = at
        at = text.valueEnd(at)
        return start..<at
    }

    /// Continues after a value that the caller has read itself.
    @inline(__always)
    mutating func resume(behind end: Int) { at = end }

    /// The next member of the object; nil at its end.
    mutating func nextMember() -> Member? {
        guard let key = nextKey() else { return nil }
        return Member(key: key, value: takeValue())
    }

    /// The next element of the array; nil at its end.
    mutating func nextElement() -> Range<Int>? {
        findNext() ? takeValue() : nil
    }
}
