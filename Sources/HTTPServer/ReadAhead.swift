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

    mutating func append(_ bytes: Span<UInt8>) {
        held.append(copying: bytes)
    }

    /// Lets go of the first of them, and of the memory with the last.
    mutating func removeFirst(_ count: Int) {
        start += count
        if isEmpty { self = ReadAhead() }
    }
}
