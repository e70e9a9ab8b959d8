import Basics
import Gateway

/// The list of a call of a recent request, and the times of its requests.
package struct RecentList: Sendable, Equatable {
    /// The index of the call.
    package let call: Int
    package let elements: Int
    package let shared: Int
    package let truncated: Int
    /// How many requests a host was given, retries and hedges included.
    package let requests: Int
    /// How many elements have failed.
    package let failed: Int
    /// Microseconds of the shortest request, the median, and the longest one; 0 without one.
    package let shortest: UInt32
    package let median: UInt32
    package let longest: UInt32

    /// - Parameter attempts: all of the request
    init(_ list: ListRecord, _ attempts: [AttemptRecord]) {
        (call, elements) = (list.call, list.elements)
        (shared, truncated) = (list.shared, list.truncated)
        let times = ListTimes(of: list.call, in: attempts)
        (requests, failed) = (times.requests, list.failed)
        (shortest, median, longest) = (times.shortest, times.median, times.longest)
    }

    // Writing and reading: both sides are here, so that they fit.

    func write(to words: inout [UInt32]) {
        words.append(UInt32(clamping: call))
        words.append(UInt32(clamping: elements))
        words.append(UInt32(clamping: shared))
        words.append(UInt32(clamping: truncated))
        words.append(UInt32(clamping: requests))
        words.append(UInt32(clamping: failed))
        words.append(shortest)
        words.append(median)
        words.append(longest)
    }

    init?(_ reader: inout WordReader) {
        guard let call = reader.next(), let elements = reader.next(), let shared = reader.next(),
            let truncated = reader.next(), let requests = reader.next(), let failed = reader.next(),
            let shortest = reader.next(), let median = reader.next(), let longest = reader.next()
        else { return nil }
        (self.call, self.elements) = (Int(call), Int(elements))
        (self.shared, self.truncated) = (Int(shared), Int(truncated))
        (self.requests, self.failed) = (Int(requests), Int(failed))
        (self.shortest, self.median, self.longest) = (shortest, median, longest)
    }
}
