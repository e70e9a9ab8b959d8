import Reactor

/// The streams with buffered writes of this loop iteration; see `WriteBuffering`.
struct BufferedStreams {
    private var streams: [UVStream] = []
    /// Storage that the next list and the next streams reuse.
    private var emptyList: [UVStream] = []
    private var emptyBuffers: [OutgoingBytes] = []

    /// The most streams in the list, so that the first is not delayed by the last.
    private static let streamsMax = 64
    /// In bytes: the size of a head and a small body.
    private static let firstBytes = 2 * 1024

    /// Whether the list is full and must be sent before the iteration ends.
    var isFull: Bool { streams.count >= BufferedStreams.streamsMax }

    /// Adds a stream whose writes are sent at the end of the iteration.
    ///
    /// - Returns: an empty buffer for them.
    mutating func add(_ stream: UVStream) -> OutgoingBytes {
        streams.append(stream)
        return emptyBuffers.popLast() ?? OutgoingBytes(capacity: BufferedStreams.firstBytes)
    }

    /// Stores an empty buffer for reuse: as many as the streams of one iteration need, and none
    /// that has grown beyond `WriteBuffering.bytesMax`.
    mutating func reuse(_ bytes: consuming OutgoingBytes) {
        guard emptyBuffers.count < BufferedStreams.streamsMax,
            bytes.capacity <= WriteBuffering.bytesMax
        else { return }
        bytes.removeAll()
        emptyBuffers.append(bytes)
    }

    var count: Int { streams.count }

    subscript(index: Int) -> UVStream { streams[index] }

    /// Takes all streams, so that the caller releases them outside of this access.
    mutating func takeAll() -> [UVStream] {
        exchange(&streams, with: exchange(&emptyList, with: []))
    }

    /// Stores the empty list for reuse.
    mutating func reuse(_ list: consuming [UVStream]) { emptyList = list }
}
