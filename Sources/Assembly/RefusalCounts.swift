package import Gateway
import HTTP

/// The number of refused requests, by reason.
package struct RefusalCounts: Sendable {
    private var counts = [Int](repeating: 0, count: RefusalReason.allCases.count)

    mutating func count(_ reason: RefusalReason) { counts[Int(reason.rawValue)] += 1 }

    package mutating func add(_ other: RefusalCounts) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// A copy that shares no memory with this value, so that counting goes on without copying.
    var copy: RefusalCounts {
        var copy = RefusalCounts()
        copy.add(self)
        return copy
    }

    package subscript(reason: RefusalReason) -> Int { counts[Int(reason.rawValue)] }
}
