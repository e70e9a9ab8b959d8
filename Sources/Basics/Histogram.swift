/// Counts of values in fixed buckets, not cumulative: what Prometheus calls a histogram.
package struct Histogram: Sendable {
    /// What the values are, and the bounds of the buckets.
    package struct Scale: Sendable, Equatable {
        /// Upper bounds, ascending, in the unit of the values.
        package let bounds: [Int64]
        /// Units of the values in a second.
        package let unitsPerSecond: Int64

        package init(bounds: [Int64], unitsPerSecond: Int64) {
            self.bounds = bounds
            self.unitsPerSecond = unitsPerSecond
        }

        /// The buckets: one for each bound, and one for larger values.
        package var bucketCount: Int { bounds.count + 1 }

        /// From the smallest bound on: the values of one histogram are mostly similar and small, so
        /// that few bounds are compared and the branches are predicted.
        fileprivate func bucket(of value: Int64) -> Int {
            let bounds = bounds.span
            var bucket = 0
            while bucket < bounds.count, value > bounds[bucket] { bucket &+= 1 }
            return bucket
        }

        package func seconds(_ value: Int64) -> Double { Double(value) / Double(unitsPerSecond) }
    }

    package let scale: Scale
    /// One count for each bucket.
    package private(set) var counts: [Int]
    /// The sum of all values. It wraps around, which takes longer than a process lives.
    package private(set) var sum: Int64 = 0

    package init(_ scale: Scale) {
        self.scale = scale
        counts = [Int](repeating: 0, count: scale.bucketCount)
    }

    /// The number of values.
    package var count: Int { counts.reduce(0, &+) }

    /// Counts a value; a negative one counts as 0. Returns its bucket.
    @discardableResult
    package mutating func record(_ value: Int64) -> Int {
        let value = max(0, value)
        let bucket = scale.bucket(of: value)
        counts[bucket] &+= 1
        sum &+= value
        return bucket
    }

    /// Adds the counts of a histogram with the same scale.
    package mutating func add(_ other: Histogram) {
        for index in counts.indices where other.counts.indices.contains(index) {
            counts[index] &+= other.counts[index]
        }
        sum &+= other.sum
    }

    /// A copy that shares no memory: the original counts on without copying.
    package var copy: Histogram {
        var copy = Histogram(scale)
        copy.add(self)
        return copy
    }
}

extension Histogram.Scale {
    /// Durations of requests and calls, in microseconds: half a millisecond to ten seconds.
    package static let durations = Histogram.Scale(
        bounds: [
            500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
            2_500_000, 5_000_000, 10_000_000,
        ], unitsPerSecond: 1_000_000)

    /// The gateway's own time for a request, in microseconds: 25 microseconds to 25 milliseconds.
    package static let ownTimes = Histogram.Scale(
        bounds: [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000],
        unitsPerSecond: 1_000_000)

    /// Elements of lists.
    package static let elements = Histogram.Scale(
        bounds: [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000], unitsPerSecond: 1)

    /// Iterations of an event loop, in nanoseconds: 25 microseconds to a second.
    package static let loopIterations = Histogram.Scale(
        bounds: [
            25_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
            25_000_000, 50_000_000, 100_000_000, 250_000_000, 1_000_000_000,
        ], unitsPerSecond: 1_000_000_000)
}
