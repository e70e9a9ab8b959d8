import Basics
import HTTP

/// What is to be sent on a stream behind its head: bytes, and how they end.
struct OutgoingBody {
    enum End {
        /// More may follow.
        case open
        case plain
        case trailers(Fields)
        /// nghttp2 has it.
        case submitted
    }

    /// Is sent first; the part before `offset` is sent.
    private var current = Bytes()
    private var offset = 0
    /// Pieces behind it, which become the current bytes when those are sent.
    private var later: [UInt8] = []
    var end = End.open
    /// nghttp2 found nothing to send: it continues when the session resumes the stream.
    var isDeferred = false

    /// Bytes that are not sent.
    var count: Int { current.count - offset + later.count }

    /// The size of the next run without a gap, at most `limit`.
    mutating func runLength(upTo limit: Int) -> Int {
        if offset == current.count, !later.isEmpty {
            current = Bytes(later)
            later = []
            offset = 0
        }
        return min(limit, current.count - offset)
    }

    /// Appends bytes, which are shared and not copied if nothing waits.
    mutating func append(_ bytes: Bytes) {
        guard count == 0 else { return append(copying: bytes.span) }
        current = bytes
        offset = 0
    }

    /// Appends borrowed bytes.
    mutating func append(copying piece: Span<UInt8>) {
        later.append(copying: piece)
    }

    /// The next bytes to send, as `runLength` has found them.
    func run(of length: Int) -> Bytes { current[offset..<(offset + length)] }

    /// That many bytes are sent.
    mutating func removeFirst(_ length: Int) {
        offset += length
        guard offset == current.count else { return }
        current = Bytes()
        offset = 0
    }

    /// Drops what is not sent.
    mutating func removeAll() {
        current = Bytes()
        offset = 0
        later = []
    }
}
