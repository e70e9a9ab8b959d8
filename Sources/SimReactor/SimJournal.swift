package import Basics

/// When the bytes of one direction of a connection were written and read, as only an observer of
/// both ends can know. Recorded if the network's settings request it, for checkers of a run.
package struct SimJournal {
    /// All bytes before `end` were written or read at this time.
    private struct Mark {
        let end: Int
        let time: Instant
        /// Whether the network took all of them at once.
        var isTaken = true
        /// Orders the marks of a network, also those with the same time.
        let number: Int
    }

    package init() {}

    private var writes: [Mark] = []
    private var reads: [Mark] = []

    /// The most bytes that the writer kept, because the network did not take them.
    package private(set) var unsentMax = 0

    /// When the network had taken all bytes that the writer kept, and how many were written by then.
    private var drains: [(time: Instant, written: Int)] = []
    package var drained: [Instant] { drains.map(\.time) }

    /// When the writer ended the direction, in any way; nil while it is open.
    package internal(set) var closed: Instant?

    /// When the reader was notified of the end, after it read every byte; nil otherwise.
    package internal(set) var endRead: Instant?

    /// When the reader was closed; nil while it is open.
    package internal(set) var abandoned: Instant?

    /// Bytes written so far.
    package var written: Int { writes.last?.end ?? 0 }

    /// Bytes read so far.
    package var read: Int { reads.last?.end ?? 0 }

    mutating func recordWrite(_ count: Int, at now: Instant, number: Int) {
        writes.append(Mark(end: written + count, time: now, number: number))
    }

    mutating func recordRead(_ count: Int, at now: Instant, number: Int) {
        reads.append(Mark(end: read + count, time: now, number: number))
    }

    /// After a write.
    mutating func recordUnsent(_ count: Int) {
        unsentMax = max(unsentMax, count)
        writes[writes.count - 1].isTaken = count == 0
    }

    mutating func recordDrained(at now: Instant) { drains.append((now, written)) }

    /// When bytes of a range were read.
    package func readTimes(of range: Range<Int>) -> [Instant] {
        var start = 0
        var times: [Instant] = []
        for mark in reads {
            if mark.end > range.lowerBound, start < range.upperBound { times.append(mark.time) }
            start = mark.end
        }
        return times
    }

    /// Bytes read before this time, or at it.
    package func read(until moment: Instant) -> Int {
        reads.last { $0.time <= moment }?.end ?? 0
    }

    /// When the byte at this offset was written; nil if it never was.
    package func written(at offset: Int) -> Instant? { Self.mark(of: offset, in: writes)?.time }

    /// When the network had taken the byte at this offset, and whatever else the writer kept then; nil if
    /// it never had.
    package func taken(at offset: Int) -> Instant? {
        guard let write = Self.mark(of: offset, in: writes) else { return nil }
        return write.isTaken ? write.time : drains.first { $0.written > offset }?.time
    }

    /// When the byte at this offset was read; nil if it never was.
    package func read(at offset: Int) -> Instant? { Self.mark(of: offset, in: reads)?.time }

    /// Whether the byte at this offset was read before the other direction's byte at `position` was
    /// written. Two events at the same time have an order, too.
    package func wasRead(
        at offset: Int, before other: SimJournal, wroteAt position: Int
    ) -> Bool {
        guard let read = Self.mark(of: offset, in: reads),
            let written = Self.mark(of: position, in: other.writes)
        else { return false }
        return read.number < written.number
    }

    /// The first mark beyond the offset.
    private static func mark(of offset: Int, in marks: [Mark]) -> Mark? {
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low < marks.count ? marks[low] : nil
    }
}
