import Basics

/// Bytes of a connection that arrived before they could be read: pipelined requests, or the
/// beginning of a body that the service does not read yet.
struct ReadAhead {
    private var buffer: [UInt8] = []
    private var start = 0

    /// The number of stored bytes.
    var count: Int { buffer.count - start }

    var isEmpty: Bool { count == 0 }

    /// The stored bytes; unaffected by later changes.
    var bytes: Bytes { Bytes(buffer)[start..<buffer.count] }

    /// Their size in memory, in bytes.
    var memoryBytes: Int { buffer.count }

    mutating func append(_ bytes: Span<UInt8>) {
        // The buffer never becomes empty while the client stays ahead, so it is compacted here.
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(copying: bytes)
    }

    /// Removes the first bytes; frees the memory with the last.
    mutating func removeFirst(_ count: Int) {
        start = min(start + count, buffer.count)
        if isEmpty { self = ReadAhead() }
    }
}
