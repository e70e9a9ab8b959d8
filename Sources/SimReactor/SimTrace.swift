package import Basics

/// What happened on a simulated network, as one number: two runs with equal hashes were one run.
///
/// Every byte that is read or written and every beginning and end of a connection goes in, with its
/// time. Lines for people are kept on demand only.
package final class SimTrace {
    /// FNV-1a over words, turned after each so that the high bits matter too.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    /// How many events went in.
    package private(set) var count = 0

    /// Gets a line for each event, where somebody wants to read them.
    package var onLine: ((Instant, String) -> Void)?

    package init() {}

    /// What can happen to a connection.
    enum Event: UInt64 {
        case reads, writes, ends, closes, resets
    }

    /// Adds the arrival of a message in an inbox.
    func recordMessage(in inbox: Int, at now: Instant) {
        mix(0xFF << 56 ^ UInt64(truncatingIfNeeded: inbox) << 32)
        mix(UInt64(truncatingIfNeeded: now.nanoseconds))
        count += 1
        onLine?(now, "inbox \(inbox) gets a message")
    }

    /// Adds an event of a connection.
    func record(_ event: Event, _ connection: Int, _ size: Int = 0, at now: Instant) {
        mix(event.rawValue << 56 ^ UInt64(truncatingIfNeeded: connection) << 32)
        mix(UInt64(truncatingIfNeeded: size))
        mix(UInt64(truncatingIfNeeded: now.nanoseconds))
        count += 1
        onLine?(now, "connection \(connection) \(event)\(size > 0 ? " \(size)" : "")")
    }

    /// Adds bytes.
    func record(_ bytes: Span<UInt8>) {
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 {
                mix(word)
                word = 0
            }
        }
        mix(word)
    }

    private func mix(_ word: UInt64) {
        hash = (hash ^ word) &* 0x0000_0100_0000_01B3
        hash = hash << 31 | hash >> 33
    }
}
