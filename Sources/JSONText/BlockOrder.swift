/// Checks the order of the tokens of consecutive blocks. The rules of JSON's grammar, put so that
/// each is one comparison of masks:
///
/// - Values begin exactly after opening brackets, commas and colons. After an opening bracket the
///   container can end instead.
/// - In an object the value after its opening brace or a comma is a string: the key of a member.
/// - Colons are exactly after keys.
///
/// It follows that a value is followed by a comma or a closing bracket, because nothing else is
/// left. `BlockContainers` checks that brackets match.
struct BlockOrder {
    /// A text begins where a value must begin.
    private var itemCarry: UInt64 = 1
    private var openCarry: UInt64 = 0
    private var colonCarry: UInt64 = 0
    private var keyCarry: UInt64 = 0
    private var afterKeyCarry: UInt64 = 0

    /// The tokens of a block outside of strings.
    struct Tokens {
        let quotes: UInt64
        let strings: UInt64
        let spaces: UInt64
        let opens: UInt64
        let closes: UInt64
        let commas: UInt64
        let colons: UInt64
        /// The first bytes of numbers, `true`, `false` and `null`.
        let scalarStarts: UInt64
        /// The bytes whose innermost container is an object.
        let objects: UInt64
    }

    /// Whether the tokens of the next block are in order.
    @inline(__always)
    mutating func accepts(_ block: Tokens) -> Bool {
        let openQuotes = block.quotes & block.strings
        let values = openQuotes | block.opens | block.scalarStarts

        var afterOpen = block.opens.moved(&openCarry)
        var items = (block.opens | block.commas).moved(&itemCarry)
        var afterColon = block.colons.moved(&colonCarry)
        if block.spaces != 0 {
            afterOpen.skip(block.spaces, &openCarry)
            items.skip(block.spaces, &itemCarry)
            afterColon.skip(block.spaces, &colonCarry)
        }
        let emptyContainerEnds = block.closes & afterOpen
        let misplacedValues = ((items | afterColon) ^ values) & ~emptyContainerEnds

        let members = items & block.objects
        let otherKeys = members & values & ~openQuotes
        let keyEnds = block.strings.afterRuns(from: members & openQuotes, &keyCarry)
        var afterKey = (keyEnds & block.quotes).moved(&afterKeyCarry)
        if block.spaces != 0 { afterKey.skip(block.spaces, &afterKeyCarry) }
        return misplacedValues | otherKeys | (afterKey ^ block.colons) == 0
    }
}
