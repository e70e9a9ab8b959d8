package import Basics
package import HTTP

/// One request that a bucket of a histogram counts, by its trace: the way from a slow bucket to a
/// trace, and to the line of the access log.
package struct Exemplar: Sendable {
    package let traceHigh: UInt64
    package let traceLow: UInt64
    /// When its request ended.
    package let at: Instant
    /// In the unit of the histogram; set when it is recorded.
    package fileprivate(set) var value: Int64 = 0

    package init(_ trace: TraceContext, at now: Instant) {
        traceHigh = trace.traceHigh
        traceLow = trace.traceLow
        at = now
    }
}

/// A histogram with the latest exemplar of each bucket.
package struct HistogramWithExemplars: Sendable {
    package private(set) var histogram: Histogram
    /// One for each bucket.
    package private(set) var exemplars: [Exemplar?]

    package init(_ scale: Histogram.Scale) {
        histogram = Histogram(scale)
        exemplars = [Exemplar?](repeating: nil, count: scale.bucketCount)
    }

    package mutating func record(_ value: Int64, _ exemplar: Exemplar) {
        var exemplar = exemplar
        exemplar.value = value
        exemplars[histogram.record(value)] = exemplar
    }

    /// Adds the counts of another worker; each bucket keeps the later exemplar.
    package mutating func add(_ other: HistogramWithExemplars) {
        histogram.add(other.histogram)
        for index in exemplars.indices where other.exemplars.indices.contains(index) {
            guard let theirs = other.exemplars[index] else { continue }
            if let own = exemplars[index], own.at > theirs.at { continue }
            exemplars[index] = theirs
        }
    }

    /// A copy that shares no memory.
    package var copy: HistogramWithExemplars {
        var copy = HistogramWithExemplars(histogram.scale)
        copy.add(self)
        return copy
    }
}
