import Basics

/// Bytes of a connection that came before they could be read: pipelined requests, the beginning of
/// a body that nobody asked for yet.
struct ReadAhead {
    private var buffer: [UInt8] = []
    private var start = 0

    /// How many bytes are buffer.
    var count: Int { buffer.count - start }

    var isEmpty: Bool { count == 0 }

    /// The bytes; they stay as they are while some are removed or added.
    var bytes: Bytes { Bytes(buffer)[start..<buffer.count] }

    /// What it keeps in memory for them, in bytes.
    var memoryBytes: Int { buffer.count }

    mutating func append(_ bytes: Span<UInt8>) {
        // A client that stays ahead never lets this run empty.
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(copying: bytes)
    }

    /// Lets go of the first of them, and of the memory with the last.
    mutating func removeFirst(_ count: Int) {
        start = min(start + count, buffer.count)
        if isEmpty { self = ReadAhead() }
    }
}
