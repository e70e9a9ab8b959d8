import Basics

/// Bytes of a connection that came before they could be read: pipelined requests, the beginning of
/// a body that nobody asked for yet.
struct ReadAhead {
    private var held: [UInt8] = []
    private var start = 0

    /// How many bytes are held.
    var count: Int { held.count - start }

    var isEmpty: Bool { count == 0 }

    /// The bytes; they stay as they are while some are removed or added.
    var bytes: Bytes { Bytes(held)[start..<held.count] }

    /// What it keeps in memory for them, in bytes.
    var heldBytes: Int { held.count }

    mutating func append(_ bytes: Span<UInt8>) {
        // A client that stays ahead never lets this run empty.
        if start > held.count / 2 {
            held.removeFirst(start)
            start = 0
        }
        held.append(copying: bytes)
    }

    /// Lets go of the first of them, and of the memory with the last.
    mutating func removeFirst(_ count: Int) {
        start = min(start + count, held.count)
        if isEmpty { self = ReadAhead() }
    }
}
