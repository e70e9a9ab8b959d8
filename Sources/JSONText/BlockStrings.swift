import CByteClasses

/// Finds the strings of consecutive blocks.
struct BlockStrings {
    /// The unescaped quotes of the block.
    private(set) var quotes: UInt64 = 0
    /// Strings: the opening quotes and the insides, without the closing quotes.
    private(set) var strings: UInt64 = 0
    /// Bytes that a backslash escapes.
    private(set) var escaped: UInt64 = 0

    /// Whether the whole block is inside a string.
    @inline(__always)
    var isInside: Bool { ~strings | quotes == 0 }
    /// Whether the next byte is escaped.
    @inline(__always)
    var isEscaped: Bool { escapeCarry != 0 }

    private var escapeCarry: UInt64 = 0
    /// All bits if a string is open.
    private var openCarry: UInt64 = 0

    @inline(__always)
    mutating func find(in block: BlockClasses) {
        // In a run of backslashes every second one is escaped. The subtraction borrows through each
        // run, which tells runs that begin at odd bytes from those at even bytes.
        let odd: UInt64 = 0xAAAA_AAAA_AAAA_AAAA
        let unescaped = block.backslashes & ~escapeCarry
        let codes = ((unescaped &<< 1 | odd) &- unescaped) ^ odd
        escaped = codes ^ (block.backslashes | escapeCarry)
        escapeCarry = (codes & block.backslashes) &>> 63

        quotes = block.quotes & ~escaped
        strings = quotes.betweenQuotes ^ openCarry
        openCarry = 0 &- (strings &>> 63)
    }
}
