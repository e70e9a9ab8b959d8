import Reactor

/// The streams that were written to in this pass of the loop; see `StreamGathering`.
struct Gathering {
    private var streams: [UVStream] = []
    /// Memory for the next list and the next streams.
    private var emptyList: [UVStream] = []
    private var emptyBuffers: [OutgoingBytes] = []

    /// Streams that wait at most, so that the first is not kept waiting for the last.
    private static let streamsMax = 64
    /// What a head and a small body take.
    private static let firstBytes = 2 * 1024

    /// Whether enough have gathered to be sent before the pass ends.
    var isFull: Bool { streams.count >= Gathering.streamsMax }

    /// Notes that `stream` wants to write at the end of the pass.
    ///
    /// - Returns: empty memory for what it writes.
    mutating func begin(_ stream: UVStream) -> OutgoingBytes {
        streams.append(stream)
        return emptyBuffers.popLast() ?? OutgoingBytes(capacity: Gathering.firstBytes)
    }

    /// Takes memory back whose bytes have left: as much as the streams of one pass need, and none that
    /// has grown for something larger than what gathers.
    mutating func reuse(_ bytes: OutgoingBytes) {
        guard emptyBuffers.count < Gathering.streamsMax,
            bytes.capacity <= StreamGathering.bytesMax
        else { return }
        bytes.removeAll()
        emptyBuffers.append(bytes)
    }

    var count: Int { streams.count }

    subscript(index: Int) -> UVStream { streams[index] }

    /// All of them have written; hands them out to be let go of outside of the access.
    mutating func takeAll() -> [UVStream] {
        let all = streams
        streams = emptyList
        emptyList = []
        return all
    }

    /// Takes the list back, empty, for its memory.
    mutating func reuse(_ list: consuming [UVStream]) { emptyList = list }
}
