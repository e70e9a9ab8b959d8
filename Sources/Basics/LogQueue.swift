/// A bounded queue of log lines between the threads that produce them and the thread that writes
/// them. The bound also holds for its memory. When it is full, the oldest lines are dropped and
/// counted.
///
/// A plain value; `LogWriter` protects it with its mutex. Lines stay whole and in the order of
/// appending.
package struct LogQueue {
    /// Lines that the writer takes at once.
    package struct Batch {
        /// How many lines were dropped just before these and have not been reported yet.
        package let linesLost: Int
        /// Whole lines, each with its line end.
        package let lines: [UInt8]
    }

    /// Lines in one piece of memory, so that short lines need no allocation of their own.
    private struct Chunk {
        var bytes: [UInt8]
        /// The first byte that is still queued; those before it were dropped.
        var start = 0

        var count: Int { bytes.count - start }
    }

    /// Bytes of lines that are queued.
    package private(set) var bytes = 0
    /// All lines that were dropped since the process began.
    package private(set) var linesDropped = 0

    package let bytesMax: Int
    private let chunkBytes: Int
    /// The memory of all chunks: more than their lines, because a line never spans two chunks.
    private var memory = 0
    private let memoryMax: Int
    /// Oldest first, none of them empty.
    private var chunks: [Chunk] = []
    private var linesLost = 0

    /// - Parameters:
    ///   - bytesMax: 8 MiB holds the lines of some seconds under load, and is little compared with
    ///     the memory of requests
    ///   - chunkBytes: the size of one write; the capacity of a pipe
    package init(bytesMax: Int = 8 << 20, chunkBytes: Int = 64 << 10) {
        self.bytesMax = bytesMax
        self.chunkBytes = chunkBytes
        // One chunk more than the lines need: the newest chunk is rarely full.
        memoryMax = (bytesMax + chunkBytes - 1) / chunkBytes * chunkBytes + chunkBytes
    }

    package var isEmpty: Bool { chunks.isEmpty }

    /// Queues whole lines. Drops the oldest ones while there are too many bytes.
    package mutating func append(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let room = chunkBytes - (chunks.last?.bytes.count ?? chunkBytes)
            var part = rest.wholeLines(atMost: room)
            if part.isEmpty {
                var chunk = Chunk(bytes: [])
                part = rest.wholeLines(atMost: chunkBytes)
                if part.isEmpty { part = rest.firstLine }
                chunk.bytes.reserveCapacity(max(chunkBytes, part.count))
                memory += max(chunkBytes, part.count)
                chunks.append(chunk)
            }
            chunks[chunks.count - 1].bytes += part
            bytes += part.count
            rest = rest[part.endIndex...]
        }
        while bytes > bytesMax || (memory > memoryMax && chunks.count > 1) { dropOldestLine() }
    }

    /// Takes the oldest lines out of the queue; nil when there are none.
    package mutating func take() -> Batch? {
        guard !chunks.isEmpty else { return nil }
        let chunk = chunks.removeFirst()
        bytes -= chunk.count
        memory -= max(chunkBytes, chunk.bytes.count)
        defer { linesLost = 0 }
        return Batch(
            linesLost: linesLost,
            lines: chunk.start == 0 ? chunk.bytes : Array(chunk.bytes[chunk.start...]))
    }

    /// Counts the lines of a batch that could not be written.
    ///
    /// - Parameters:
    ///   - written: how many bytes of its lines were written
    ///   - isLossReported: whether the lines lost before it were reported
    package mutating func recordFailure(of batch: Batch, written: Int, isLossReported: Bool) {
        let lost = batch.lines.dropFirst(written).count { $0 == lineEnd }
        linesDropped += lost
        // No batch was taken meanwhile, but more lines may have been dropped.
        linesLost += isLossReported ? lost : lost + batch.linesLost
    }

    private mutating func dropOldestLine() {
        guard var chunk = chunks.first else { return }
        chunks[0].bytes = []  // so that there is one owner and no copy
        let length = chunk.bytes[chunk.start...].firstLine.count
        chunk.start += length
        bytes -= length
        linesDropped += 1
        linesLost += 1
        if chunk.count > 0 {
            chunks[0] = chunk
        } else {
            chunks.removeFirst()
            memory -= max(chunkBytes, chunk.bytes.count)
        }
    }
}

private let lineEnd = UInt8(ascii: "\n")

extension ArraySlice<UInt8> {
    /// As many lines from the beginning as fit into `limit` bytes.
    fileprivate func wholeLines(atMost limit: Int) -> ArraySlice<UInt8> {
        guard count > limit else { return self }
        guard let end = prefix(Swift.max(0, limit)).lastIndex(of: lineEnd) else { return prefix(0) }
        return self[...end]
    }

    /// Up to the first line end and with it.
    fileprivate var firstLine: ArraySlice<UInt8> {
        guard let end = firstIndex(of: lineEnd) else { return self }
        return self[...end]
    }
}
