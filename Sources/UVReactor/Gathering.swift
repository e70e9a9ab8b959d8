/// The streams that were written to in this pass of the loop; see `StreamGathering`.
struct Gathering {
    private var streams: [UVStream] = []
    private var spare: [UVStream] = []
    private var spares: [OutgoingBytes] = []

    /// Streams that wait at most, so that the first is not kept waiting for the last.
    private static let streamsMax = 64

    private static let sparesMax = 64
    /// A larger buffer was for something rare.
    private static let spareBytesMax = 16 * 1024
    private static let firstBytes = 2048

    /// Whether enough have gathered to be sent before the pass ends.
    var isFull: Bool { streams.count >= Gathering.streamsMax }

    /// Notes that `stream` wants to write at the end of the pass.
    ///
    /// - Returns: empty memory for what it writes.
    mutating func begin(_ stream: UVStream) -> OutgoingBytes {
        streams.append(stream)
        return spares.popLast() ?? OutgoingBytes(capacity: Gathering.firstBytes)
    }

    /// Takes memory back whose bytes have left.
    mutating func reuse(_ bytes: OutgoingBytes) {
        guard spares.count < Gathering.sparesMax, bytes.capacity <= Gathering.spareBytesMax else {
            return
        }
        bytes.removeAll()
        spares.append(bytes)
    }

    var count: Int { streams.count }

    subscript(index: Int) -> UVStream { streams[index] }

    /// All of them have written; hands them out to be let go of outside of the access.
    mutating func takeAll() -> [UVStream] {
        swap(&streams, &spare)
        let taken = spare
        spare = []
        return taken
    }

    /// Takes an empty list back, for its memory.
    mutating func reuse(_ list: consuming [UVStream]) { spare = list }
}
