/// Buckets for times in microseconds whose width grows with the time: eight for each doubling, so a time
/// read from them is wrong by at most an eighth of itself, and by much less after interpolation.
///
/// Only the arithmetic: the counts belong to the caller, one `UInt32` for each bucket.
package enum LogLinearBuckets {
    /// The last bucket also counts times longer than two minutes.
    @inlinable @inline(__always) package static var count: Int { 192 }

    /// The bucket of a time. The first eight are two microseconds wide.
    @inlinable @inline(__always)
    package static func bucket(of microseconds: UInt32) -> Int {
        guard microseconds >= 16 else { return Int(microseconds / 2) }
        let exponent = 31 &- microseconds.leadingZeroBitCount
        let part = Int(microseconds &>> UInt32(truncatingIfNeeded: exponent &- 3)) & 7
        return min((exponent &- 3) &* 8 &+ part, count &- 1)
    }

    /// The times of a bucket, in microseconds.
    package static func bounds(of bucket: Int) -> Range<Int> {
        guard bucket >= 8 else { return bucket * 2..<(bucket + 1) * 2 }
        let shift = bucket / 8
        let lower = (8 + bucket % 8) << shift
        return lower..<(lower + 1 << shift)
    }

    /// The time below which this share of the counted times lies, interpolated inside of its bucket;
    /// nil without counts.
    package static func quantile(_ share: Double, of counts: Span<UInt32>) -> Double? {
        var total = 0
        for bucket in counts.indices { total += Int(counts[bucket]) }
        guard total > 0 else { return nil }
        let rank = max(0, min(1, share)) * Double(total)
        var below = 0
        for bucket in counts.indices where counts[bucket] > 0 {
            let here = Int(counts[bucket])
            if Double(below + here) >= rank {
                let bounds = bounds(of: bucket)
                let inside = max(0, rank - Double(below)) / Double(here)
                return Double(bounds.lowerBound) + inside * Double(bounds.count)
            }
            below += here
        }
        return nil
    }
}
