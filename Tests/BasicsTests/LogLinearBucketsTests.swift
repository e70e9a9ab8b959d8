import Basics
import Testing

/// The buckets of times and the quantiles that are read from them.
@Suite struct LogLinearBucketsTests {
    @Test func bucketsAreContiguousAndCoverEveryTime() {
        var next = 0
        for bucket in 0..<LogLinearBuckets.count {
            let bounds = LogLinearBuckets.bounds(of: bucket)
            #expect(bounds.lowerBound == next)
            #expect(LogLinearBuckets.bucket(of: UInt32(bounds.lowerBound)) == bucket)
            #expect(LogLinearBuckets.bucket(of: UInt32(bounds.upperBound - 1)) == bucket)
            next = bounds.upperBound
        }
        #expect(next > 60_000_000)
    }

    @Test func theLastBucketCountsLongerTimes() {
        #expect(LogLinearBuckets.bucket(of: .max) == LogLinearBuckets.count - 1)
        #expect(LogLinearBuckets.bucket(of: 140_000_000) == LogLinearBuckets.count - 1)
    }

    @Test func aBucketIsNoWiderThanAnEighthOfItsTimes() {
        for bucket in 8..<LogLinearBuckets.count {
            let bounds = LogLinearBuckets.bounds(of: bucket)
            #expect(bounds.count * 8 <= bounds.lowerBound)
        }
    }

    private func time(at share: Double, of times: some Sequence<UInt32>) -> Double? {
        var counts = [UInt32](repeating: 0, count: LogLinearBuckets.count)
        for time in times { counts[LogLinearBuckets.bucket(of: time)] += 1 }
        return LogLinearBuckets.quantile(share, of: counts.span)
    }

    @Test(arguments: [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0)])
    func quantilesOfEvenTimesAreInterpolated(_ share: Double, _ expected: Double) throws {
        let quantile = try #require(time(at: share, of: 1...10_000))
        #expect(abs(quantile - expected) < expected / 25, "the bucket of the p99 is not full")
    }

    @Test func quantilesOfOneTimeAreInItsBucket() throws {
        for share in [0, 0.5, 1] {
            let quantile = try #require(time(at: share, of: [41_000]))
            #expect(abs(quantile - 41_000) <= 41_000 / 8)
        }
    }

    @Test func noCountsHaveNoQuantile() {
        #expect(time(at: 0.5, of: [UInt32]()) == nil)
    }
}
