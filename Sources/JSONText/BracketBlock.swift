/// The brackets among sixty-four bytes of valid text that begin outside of strings.
///
/// A bit a byte, the first one lowest, so that a few operations determine what is inside strings.
struct BracketBlock {
    /// Brackets outside of strings.
    let brackets: UInt64
    /// Of the brackets, those that close.
    let closing: UInt64
    /// The quote of a string that goes on behind the block.
    let openQuote: Int?

    @inline(__always)
    init(_ text: Lookahead, at offset: Int) {
        var notQuotes: UInt64 = 0
        var notBrackets: UInt64 = 0
        var notBackslash = ~UInt64(0)
        var closing: UInt64 = 0
        for step in 0..<8 {
            let word = text.word(offset &+ 8 &* step)
            let shift = UInt64(8 &* step)
            notQuotes |= Word.gathered(Word.isNot(word, .quote)) &<< shift
            // All four brackets become 7F; so would only Y, y and DEL, which occur only in strings.
            notBrackets |= Word.gathered(Word.isNot(word | Word.all(0x26), 0x7F)) &<< shift
            // 5D and 7D have this bit, 5B and 7B have not.
            closing |= Word.gathered(word &<< 5) &<< shift
            notBackslash &= Word.isNot(word, .backslash)
        }
        var quotes = ~notQuotes
        if ~notBackslash & Word.highs != 0 { quotes &= ~BracketBlock.escaped(text, offset) }

        let inString = BracketBlock.running(quotes)
        brackets = ~notBrackets & ~inString
        self.closing = closing & brackets
        openQuote = inString &>> 63 == 0 ? nil : 63 &- quotes.leadingZeroBitCount
    }

    /// What is behind a backslash that is not escaped itself.
    @inline(never)
    private static func escaped(_ text: Lookahead, _ offset: Int) -> UInt64 {
        var escaped: UInt64 = 0
        var place = 0
        while place < 64 {
            let isEscape = text.byte(offset &+ place) == .backslash
            if isEscape { escaped |= 1 << UInt64(place &+ 1) }
            place &+= isEscape ? 2 : 1
        }
        return escaped
    }

    /// All places from every odd one of the given places up to the next even one: strings, from the
    /// first quote up to the last.
    @inline(__always)
    private static func running(_ places: UInt64) -> UInt64 {
        var sum = places
        sum ^= sum &<< 1
        sum ^= sum &<< 2
        sum ^= sum &<< 4
        sum ^= sum &<< 8
        sum ^= sum &<< 16
        sum ^= sum &<< 32
        return sum
    }
}

extension Lookahead {
    /// The end of the object or array that starts at `start`, in valid text.
    func containerEnd(_ start: Int) -> Int {
        var depth = 0
        var at = start
        while at < count {
            let block = BracketBlock(self, at: at)
            let closeCount = block.closing.nonzeroBitCount
            if depth > closeCount {
                // Too few to be the end, so none of them is examined.
                depth &+= block.brackets.nonzeroBitCount &- 2 &* closeCount
            } else if let place = block.end(&depth) {
                return at &+ place &+ 1
            }
            at = block.openQuote.map { stringEnd(at &+ $0) } ?? at &+ 64
        }
        return count
    }
}

extension BracketBlock {
    /// Where the container ends that is open `depth` times.
    @inline(__always)
    fileprivate func end(_ depth: inout Int) -> Int? {
        var rest = brackets
        while rest != 0 {
            let place = rest.trailingZeroBitCount
            depth &+= closing &>> UInt64(place) & 1 == 0 ? 1 : -1
            if depth == 0 { return place }
            rest &= rest &- 1
        }
        return nil
    }
}
