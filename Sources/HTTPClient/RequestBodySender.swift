import Basics
import HTTP
import Reactor

/// Writes the body of a request to an HTTP/1.1 connection while it arrives from its source. Owned by
/// the connection until the call ends.
///
/// Pauses the source while the connection has more than `unsentBytesMax` to send.
final class RequestBodySender: BodySink {
    /// The source delivered more or fewer bytes than stated.
    struct WrongLength: Error {}

    private let source: any BodySource
    private let stream: any ByteStream
    private let fail: (any Error) -> Void
    /// The remaining bytes of the stated length; nil for a body in chunks.
    private var remaining: Int?
    private var chunk = TextBuffer()
    private var isPaused = false

    /// Whether the whole body was written.
    private(set) var isComplete = false

    /// Whether the head was offered to the network before the last write, so that the backend may
    /// have received it.
    private(set) var hasStartedSending = false

    /// In bytes.
    ///
    /// 64 KiB: keeps a connection busy, and bounds the memory for a slow backend.
    private static let unsentBytesMax = 64 * 1024

    /// Whether the bytes are not those of HTTP: they are sent as they are, and their end is that of the
    /// sending side of the connection.
    private let isRaw: Bool

    /// - Parameter fail: called at most once, when the request cannot be completed
    init(
        _ source: any BodySource, to stream: any ByteStream, isRaw: Bool = false,
        fail: @escaping (any Error) -> Void
    ) {
        self.source = source
        self.stream = stream
        self.isRaw = isRaw
        self.fail = fail
        remaining =
            switch RequestFraming(of: .stream(source)) {
            case .length(let length): length
            case .chunked: nil
            }
    }

    /// Starts to send. The head must have been written.
    func startSending() { source.startDelivery(to: self) }

    /// Cancels the rest of the body.
    func cancel() {
        guard !isComplete else { return }
        isComplete = true
        source.cancel()
    }

    /// The connection has sent all unsent bytes.
    func resumeSource() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }

    // MARK: BodySink

    func bodyReceived(_ piece: Span<UInt8>) {
        guard !isComplete else { return }
        if isRaw {
            write(piece)
        } else if let remaining {
            guard piece.count <= remaining else { return fail(WrongLength()) }
            self.remaining = remaining - piece.count
            write(piece)
        } else {
            chunk.removeAll()
            chunk.append(chunk: piece)
            write(chunk.span)
        }
        if !isPaused, stream.unsentBytes > Self.unsentBytesMax {
            isPaused = true
            source.pause()
        }
    }

    func bodyEnded(trailers: Fields) {
        guard remaining ?? 0 == 0 else { return failAtEnd(WrongLength()) }
        if isRaw {
            stream.finishWriting()
        } else if remaining == nil {
            chunk.removeAll()
            chunk.appendLastChunk()
            write(chunk.span)
        }
        isComplete = true
    }

    func bodyFailed(_ error: any Error) { failAtEnd(error) }

    /// The body failed; the source makes no more calls and needs no cancellation.
    private func failAtEnd(_ error: any Error) {
        // A source that could not begin reports it later, possibly after the end of the call.
        guard !isComplete else { return }
        isComplete = true
        fail(error)
    }

    private func write(_ bytes: Span<UInt8>) {
        if stream.hasOfferedAll { hasStartedSending = true }
        stream.write(bytes)
    }
}
