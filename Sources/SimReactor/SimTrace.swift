package import Basics

/// A hash of all events on a simulated network: equal hashes mean equal runs.
///
/// It includes every byte that is read or written, and every beginning and end of a connection,
/// with its time. Text lines are produced on demand only.
package final class SimTrace {
    /// FNV-1a over words, rotated after each word so that the high bits take part.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The number of recorded events.
    package private(set) var count = 0

    /// Receives a text line for each event.
    package var onLine: ((Instant, String) -> Void)?

    package init() {}

    /// The events of a connection.
    enum Event: UInt64 {
        case reads, writes, ends, closes, resets
    }

    /// Records the arrival of a message in an inbox.
    func recordMessage(in inbox: Int, at now: Instant) {
        mix(0xFF << 56 ^ UInt64(truncatingIfNeeded: inbox) << 32)
        mix(UInt64(truncatingIfNeeded: now.nanoseconds))
        count += 1
        onLine?(now, "inbox \(inbox) gets a message")
    }

    /// Records an event of a connection.
    func record(_ event: Event, _ connection: Int, _ size: Int = 0, at now: Instant) {
        mix(event.rawValue << 56 ^ UInt64(truncatingIfNeeded: connection) << 32)
        mix(UInt64(truncatingIfNeeded: size))
        mix(UInt64(truncatingIfNeeded: now.nanoseconds))
        count += 1
        onLine?(now, "connection \(connection) \(event)\(size > 0 ? " \(size)" : "")")
    }

    /// Records bytes.
    func record(_ bytes: Span<UInt8>) {
        let whole = bytes.count & ~7
        for start in stride(from: 0, to: whole, by: 8) {
            mix(unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        var rest: UInt64 = 0
        for index in whole..<bytes.count { rest = rest << 8 | UInt64(bytes[index]) }
        mix(rest)
    }

    private func mix(_ word: UInt64) {
        hash = (hash ^ word) &* 0x0000_0100_0000_01B3
        hash = hash << 31 | hash >> 33
    }
}
