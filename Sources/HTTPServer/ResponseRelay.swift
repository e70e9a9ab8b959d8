import HTTP
import Reactor

/// Writes the body of a streamed response to a connection of HTTP/1.1, piece by piece.
///
/// Pauses the source while too many bytes are unsent, and resumes it when the client has taken
/// them. The connection owns it during the transfer; confined to the loop's thread.
final class ResponseRelay: BodySink {
    /// Bytes of the body that were written.
    private(set) var bodyBytes = 0
    private let source: any BodySource
    private let framing: BodyFraming
    /// Until the end.
    private var connection: ServerConnection?
    private var isPaused = false

    /// Unsent bytes beyond which the source is paused.
    ///
    /// 64 KiB: keeps a fast client busy for one loop iteration, and bounds the memory for a slow
    /// one.
    static let unsentBytesMax = 64 * 1024

    /// - Parameter framing: as the head of the response stated it
    init(_ source: any BodySource, _ framing: BodyFraming, to connection: ServerConnection) {
        self.source = source
        self.framing = framing
        self.connection = connection
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
        guard connection.take() != nil else { return }
        source.cancel()
    }

    // MARK: Events of the source

    func bodyReceived(_ piece: Span<UInt8>) {
        guard let connection, !piece.isEmpty else { return }
        // Bytes beyond the stated length would be read as the next response.
        if case .length(let length) = framing, piece.count > length - bodyBytes {
            return connection.handle(.responseBroken)
        }
        bodyBytes += piece.count
        let unsent = connection.writePiece(piece, isChunk: framing == .chunked)
        guard unsent > Self.unsentBytesMax, !isPaused else { return }
        isPaused = true
        source.pause()
    }

    func bodyEnded(trailers: Fields) {
        guard let connection else { return }
        if case .length(let length) = framing, bodyBytes < length {
            return connection.handle(.responseBroken)
        }
        self.connection = nil
        connection.endRelay(isChunked: framing == .chunked, trailers)
    }

    func bodyFailed(_ error: any Error) {
        connection?.handle(.responseBroken)
    }
}

extension BodyFraming {
    /// How a streamed response with this framing is framed towards a client (RFC 9112 6.3).
    func relayed(to version: HTTPVersion) -> BodyFraming {
        switch self {
        // No piece may follow a head that states no body.
        case .none: .length(0)
        case .length(let length): .length(length)
        case .chunked, .untilClose: version >= .http11 ? .chunked : .untilClose
        }
    }
}
