/// Counts of durations in fixed buckets, not cumulative.
package struct Histogram: Sendable {
    /// Upper bounds in microseconds, ascending: a millisecond to ten seconds.
    package static let bounds: [Int64] = [
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        2_500_000,
        5_000_000, 10_000_000,
    ]

    /// One count for each bound, and one for longer durations.
    package private(set) var counts = [Int](repeating: 0, count: Histogram.bounds.count + 1)
    /// The sum of all durations, in microseconds.
    package private(set) var sum: Int64 = 0

    package init() {}

    package mutating func record(_ duration: Duration) {
        let microseconds = max(0, duration.inNanoseconds / 1_000)
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        counts[bucket] += 1
        sum += microseconds
    }

    package mutating func add(_ other: Histogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        sum += other.sum
    }
}
