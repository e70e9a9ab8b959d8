package import Basics

/// When the bytes of one direction of a connection were written and read, as only an observer of
/// both ends can know. Recorded if the network's settings request it, for checkers of a run.
package struct SimJournal {
    /// All bytes before `end` were written or read at this time.
    private struct Mark {
        let end: Int
        let time: Instant
    }

    private var writes: [Mark] = []
    private var reads: [Mark] = []

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

    mutating func recordWrite(_ count: Int, at now: Instant) {
        writes.append(Mark(end: written + count, time: now))
    }

    mutating func recordRead(_ count: Int, at now: Instant) {
        reads.append(Mark(end: read + count, time: now))
    }

    /// When the byte at this offset was written; nil if it never was.
    package func written(at offset: Int) -> Instant? { Self.time(of: offset, in: writes) }

    /// When the byte at this offset was read; nil if it never was.
    package func read(at offset: Int) -> Instant? { Self.time(of: offset, in: reads) }

    /// The first mark beyond the offset.
    private static func time(of offset: Int, in marks: [Mark]) -> Instant? {
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low < marks.count ? marks[low].time : nil
    }
}
