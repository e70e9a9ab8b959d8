/// Where things end in text that is known to be valid.
extension Lookahead {
    /// The first byte that is no white space.
    @inline(__always)
    func afterSpace(_ start: Int) -> Int {
        byte(start) > .space ? start : afterSomeSpace(start)
    }

    /// Rows of blanks, as of an indentation, go eight at a time.
    @inline(never)
    private func afterSomeSpace(_ start: Int) -> Int {
        var at = start
        while true {
            at &+= Word.bytesBefore(Word.notBlank(word(at)))
            let byte = byte(at)
            if byte != .space {
                guard byte.isJSONSpace else { return at }
                at &+= 1
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
            if byte(at) == .quote { return at &+ 1 }
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
            switch byte(at) {
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
