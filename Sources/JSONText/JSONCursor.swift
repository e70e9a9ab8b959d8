/// Walks over text that is known to be valid, checking nothing again.
///
/// It gives out ranges and no slices, so that a walk retains and releases nothing.
struct JSONCursor: ~Escapable {
    let text: Span<UInt8>
    private(set) var at: Int

    /// One member of an object.
    struct Member {
        /// The key without its quotes.
        let key: Range<Int>
        let value: Range<Int>
    }

    /// `at` is behind the opening bracket of an object or array, or behind one of its values.
    @_lifetime(copy text)
    init(_ text: Span<UInt8>, at: Int) {
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
        if text.peek(at) == .comma { at = text.afterSpace(at &+ 1) }
        let byte = text.peek(at)
        return byte != .closeBrace && byte != .closeBracket && at < text.count
    }
}

/// Where things end in text that is known to be valid.
extension Span<UInt8> {
    @inline(__always)
    func afterSpace(_ start: Int) -> Int {
        var at = start
        while peek(at).isJSONSpace { at &+= 1 }
        return at
    }

    /// The end of the value that starts at `start`.
    @inline(__always)
    func valueEnd(_ start: Int) -> Int {
        switch peek(start) {
        case .quote: stringEnd(start)
        case .openBrace, .openBracket: containerEnd(start)
        default: plainEnd(start)
        }
    }

    /// The end of a number, `true`, `false` or `null`.
    private func plainEnd(_ start: Int) -> Int {
        var at = start
        while true {
            switch peek(at) {
            case .comma, .closeBrace, .closeBracket, 0x00...0x20: return Swift.min(at, count)
            default: at &+= 1
            }
        }
    }

    /// The end of the string whose quote stands at `start`.
    @inline(__always)
    func stringEnd(_ start: Int) -> Int {
        var at = start &+ 1
        while at < count {
            let marks = Word.quoteOrBackslash(word(at))
            guard marks != 0 else {
                at &+= 8
                continue
            }
            at &+= Word.bytesBefore(marks)
            if peek(at) == .quote { return at &+ 1 }
            at &+= 2
        }
        return count
    }

    /// The end of the object or array that starts at `start`: brackets are counted, strings leapt over.
    private func containerEnd(_ start: Int) -> Int {
        var depth = 0
        var at = start
        while at < count {
            let marks = Word.quoteOrBracket(word(at))
            guard marks != 0 else {
                at &+= 8
                continue
            }
            at &+= Word.bytesBefore(marks)
            switch peek(at) {
            case .quote:
                at = stringEnd(at)
                continue
            case .openBrace, .openBracket:
                depth &+= 1
            default:
                depth &-= 1
                if depth == 0 { return at &+ 1 }
            }
            at &+= 1
        }
        return count
    }
}
