import HTTP
import Reactor

/// What the body of a streamed response is written to: a connection of HTTP/1.1, or a stream of
/// HTTP/2.
protocol RelayTarget: AnyObject {
    /// What was written and the client has not taken, in bytes.
    var pendingBytes: Int { get }

    /// Writes a piece; returns the number of unsent bytes.
    func writePiece(_ piece: Span<UInt8>, isChunk: Bool) -> Int

    /// The last piece is written.
    func endRelay(isChunked: Bool, _ trailers: Fields)

    /// The body cannot be completed as the head stated it.
    func breakRelay()
}

/// Writes the body of a streamed response to a client, piece by piece.
///
/// Pauses the source while too many bytes are unsent, and resumes it when the client has taken
/// them. The target owns it during the transfer; confined to the loop's thread.
final class ResponseRelay<Target: RelayTarget>: BodySink {
    /// Bytes of the body that were written.
    private(set) var bodyBytes = 0
    private let source: any BodySource
    let framing: BodyFraming
    /// Until the end.
    private var target: Target?
    private var isPaused = false

    /// Unsent bytes beyond which the source is paused.
    ///
    /// 64 KiB: keeps a fast client busy for one loop iteration, and bounds the memory for a slow
    /// one.
    static var unsentBytesMax: Int { 64 * 1024 }

    /// - Parameter framing: as the head of the response stated it
    init(_ source: any BodySource, _ framing: BodyFraming, to target: Target) {
        self.source = source
        self.framing = framing
        self.target = target
    }

    func startRelay() {
        source.startDelivery(to: self)
    }

    /// The client has taken all unsent bytes.
    func resumeRelay() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }

    /// The rest of the body is not needed.
    func cancel() {
        guard target.take() != nil else { return }
        source.cancel()
    }

    var pendingBytes: Int { target?.pendingBytes ?? 0 }

    // MARK: Events of the source

    func bodyReceived(_ piece: Span<UInt8>) {
        guard let target, !piece.isEmpty else { return }
        // Bytes beyond the stated length would be read as the next response.
        if case .length(let length) = framing, piece.count > length - bodyBytes {
            return target.breakRelay()
        }
        bodyBytes += piece.count
        let unsent = target.writePiece(piece, isChunk: framing == .chunked)
        guard unsent > Self.unsentBytesMax, !isPaused else { return }
        isPaused = true
        source.pause()
    }

    func bodyEnded(trailers: Fields) {
        guard let target else { return }
        if case .length(let length) = framing, bodyBytes < length {
            return target.breakRelay()
        }
        self.target = nil
        target.endRelay(isChunked: framing == .chunked, trailers)
    }

    func bodyFailed(_ error: any Error) {
        target?.breakRelay()
    }
}

extension BodyFraming {
    /// How a streamed response with this framing is framed towards a client (RFC 9112 6.3). In
    /// HTTP/2 a length that is not stated needs no chunks.
    func relayed(to version: HTTPVersion) -> BodyFraming {
        switch self {
        // No piece may follow a head that states no body.
        case .none: .length(0)
        case .length(let length): .length(length)
        case .chunked, .untilClose: version >= .http11 ? .chunked : .untilClose
        }
    }
}
