/// The brackets among sixty-four bytes of valid text that begin outside of strings.
///
/// One bit for each byte, the first byte in the lowest bit, so that a few operations find what is
/// inside strings.
struct BracketBlock {
    /// Brackets outside of strings.
    let brackets: UInt64
    /// The closing ones of these brackets.
    let closing: UInt64
    /// The opening quote of a string that ends after the block.
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
            // All four brackets become 7F; of other bytes only Y, y and DEL do, which occur only in
            // strings.
            notBrackets |= Word.gathered(Word.isNot(word | Word.all(0x26), 0x7F)) &<< shift
            // 5D and 7D have this bit, 5B and 7B have not.
            closing |= Word.gathered(word &<< 5) &<< shift
            notBackslash &= Word.isNot(word, .backslash)
        }
        var quotes = ~notQuotes
        if ~notBackslash & Word.highs != 0 { quotes &= ~BracketBlock.escapedBytes(text, offset) }

        let inString = BracketBlock.insideStrings(quotes)
        brackets = ~notBrackets & ~inString
        self.closing = closing & brackets
        openQuote = inString &>> 63 == 0 ? nil : 63 &- quotes.leadingZeroBitCount
    }

    /// The bytes after an unescaped backslash.
    @inline(never)
    private static func escapedBytes(_ text: Lookahead, _ offset: Int) -> UInt64 {
        var escapedBytes: UInt64 = 0
        var index = 0
        while index < 64 {
            let isEscape = text.byte(offset &+ index) == .backslash
            if isEscape { escapedBytes |= 1 << UInt64(index &+ 1) }
            index &+= isEscape ? 2 : 1
        }
        return escapedBytes
    }

    /// All bits from every odd one of the given bits up to the next even one: the strings between
    /// quotes.
    @inline(__always)
    private static func insideStrings(_ bits: UInt64) -> UInt64 {
        var sum = bits
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
                // Too few closing brackets to end the container, so none of them is examined.
                depth &+= block.brackets.nonzeroBitCount &- 2 &* closeCount
            } else if let index = block.end(&depth) {
                return at &+ index &+ 1
            }
            at = block.openQuote.map { stringEnd(at &+ $0) } ?? at &+ 64
        }
        return count
    }
}

extension BracketBlock {
    /// The end of the container at nesting `depth`; nil if it is not in this block.
    @inline(__always)
    fileprivate func end(_ depth: inout Int) -> Int? {
        var rest = brackets
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            depth &+= closing &>> UInt64(index) & 1 == 0 ? 1 : -1
            if depth == 0 { return index }
            rest &= rest &- 1
        }
        return nil
    }
}
