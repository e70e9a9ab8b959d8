/// The open containers of a scan by blocks: one bit each, set for an object, the innermost lowest.
///
/// They are in one word, unlike the containers of `Nesting`: the few deeper texts are scanned without blocks.
struct BlockContainers {
    /// How many containers can be open at once.
    static let depthMax = 61

    /// The bit above the containers marks the end of the stack.
    private var stack: UInt64 = BlockContainers.empty
    /// All bits that the stack ever had.
    private var reached: UInt64 = BlockContainers.empty
    /// A stack that is too deep is at least this.
    private let limit: UInt64

    /// The mark, and a bit for the text, which like an array has no keys.
    private static let empty: UInt64 = 2

    /// The opening brackets of the block.
    private(set) var opens: UInt64 = 0
    /// The bytes whose innermost container is an object; a bracket is a byte of the outer container.
    private(set) var objects: UInt64 = 0

    init(depthMax: Int) {
        let depth = min(max(depthMax, 0), BlockContainers.depthMax)
        limit = 1 &<< UInt64(truncatingIfNeeded: depth &+ 2)
    }

    /// The end of the outermost container, counted from the start of the block; zero if it does not
    /// end in this block. Nil if a bracket has no partner of its kind, or if containers nest too
    /// deeply.
    @inline(__always)
    mutating func match(_ brackets: UInt64, in text: Lookahead, at start: Int) -> Int? {
        opens = 0
        objects = 0 &- (stack & 1)
        var rest = brackets
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            // 5B and 7B open, 5D and 7D close.
            let byte = text.byte(start &+ index)
            let isBrace = UInt64(byte &>> 5) & 1
            if byte & 4 == 0 {
                stack = stack &<< 1 | isBrace
                reached |= stack
                opens |= rest.lowestBit
            } else {
                guard stack & 1 == isBrace else { return nil }
                stack &>>= 1
                if stack == BlockContainers.empty { return reached < limit ? index &+ 1 : nil }
            }
            let kind = 0 &- (stack & 1)
            // The bytes after the bracket.
            objects = kind ^ ((objects ^ kind) & (rest ^ (rest &- 1)))
            rest &= rest &- 1
        }
        return reached < limit ? 0 : nil
    }
}
