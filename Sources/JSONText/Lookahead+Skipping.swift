/// Finding the ends of tokens and values in text that is known to be valid.
extension Lookahead {
    /// The first byte that is not white space.
    @inline(__always)
    func afterSpace(_ start: Int) -> Int {
        if byte(start) > .space { return start }
        // A single space is the most common case, then an indentation.
        return byte(start &+ 1) > .space && byte(start) == .space
            ? start &+ 1 : afterSomeSpace(start)
    }

    /// Runs of spaces, as in an indentation, are skipped eight at a time.
    @inline(never)
    private func afterSomeSpace(_ start: Int) -> Int {
        var at = start
        while true {
            switch byte(at) {
            case .space: at &+= Word.bytesBefore(Word.notBlank(word(at)))
            case 0x09, 0x0A, 0x0D: at &+= 1
            default: return at
            }
        }
    }

    /// The end of the value that starts at `start`.
    @inline(__always)
    func valueEnd(_ start: Int) -> Int {
        switch byte(start) {
        case .quote: stringEnd(start)
        case .openBrace, .openBracket: containerEnd(start)
        default: plainEnd(start)
        }
    }

    /// The end of a number, `true`, `false` or `null`.
    private func plainEnd(_ start: Int) -> Int {
        var at = start
        while true {
            switch byte(at) {
            case .comma, .closeBrace, .closeBracket, 0x00...0x20: return min(at, count)
            default: at &+= 1
            }
        }
    }

    /// The end of the string whose opening quote is at `start`.
    @inline(__always)
    func stringEnd(_ start: Int) -> Int {
        var isEscaped = false
        return stringEnd(start, isEscaped: &isEscaped)
    }

    /// The same; also sets whether the string has an escape.
    @inline(__always)
    func stringEnd(_ start: Int, isEscaped: inout Bool) -> Int {
        var at = start &+ 1
        while at < count {
            let marks = Word.quoteOrBackslash(word(at))
            guard marks != 0 else {
                at &+= 8
                continue
            }
            at &+= Word.bytesBefore(marks)
            if byte(at) == .quote { return at &+ 1 }
            isEscaped = true
            at &+= 2
        }
        return count
    }
}
