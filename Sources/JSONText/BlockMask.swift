/// Operations on the masks of a block: one bit for each of sixty-four bytes, the first in the lowest.
///
/// A carry is the bit that leaves the block at its end, and enters the next block as the lowest bit.
extension UInt64 {
    /// The lowest bit that is set.
    @inline(__always)
    var lowestBit: UInt64 { self & (0 &- self) }

    /// The bits of the first `count` bytes.
    @inline(__always)
    static func first(_ count: Int) -> UInt64 {
        count >= 64 ? ~0 : (1 &<< UInt64(truncatingIfNeeded: count)) &- 1
    }

    /// Each bit moved to the next byte.
    @inline(__always)
    func moved(_ carry: inout UInt64) -> UInt64 {
        let moved = self &<< 1 | carry
        carry = self &>> 63
        return moved
    }

    /// The bits after those runs of bits that begin with one of the starts.
    ///
    /// Adding a bit to a run of bits clears the run and sets the bit after it.
    @inline(__always)
    func afterRuns(from starts: UInt64, _ carry: inout UInt64) -> UInt64 {
        let sum = self &+ (starts | carry)
        carry = (self & ~sum) &>> 63
        return sum & ~self
    }

    /// Each bit at the start of a run of spaces moved to the byte after the run.
    @inline(__always)
    mutating func skip(_ spaces: UInt64, _ carry: inout UInt64) {
        let sum = (self & spaces) &+ spaces
        carry |= (spaces & ~sum) &>> 63
        self = (self | sum) & ~spaces
    }

    /// All bits from each odd bit up to the next even one, without that: strings between quotes.
    @inline(__always)
    var betweenQuotes: UInt64 {
        var sum = self
        sum ^= sum &<< 1
        sum ^= sum &<< 2
        sum ^= sum &<< 4
        sum ^= sum &<< 8
        sum ^= sum &<< 16
        sum ^= sum &<< 32
        return sum
    }
}
