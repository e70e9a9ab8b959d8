import Basics
import HTTP
import HTTP2

/// Sends the body of a request on a stream of HTTP/2 while it arrives from its source. Owned by the
/// stream's `H2ClientStream` until the call ends.
///
/// Pauses the source while more than `queuedBytesMax` wait for the windows of the backend.
final class H2RequestBody: BodySink {
    private let source: any BodySource
    private unowned let stream: H2ClientStream
    /// The remaining bytes of the stated length; nil without one.
    private var remaining: Int?
    private var isPaused = false
    private var isComplete = false

    /// In bytes.
    ///
    /// 64 KiB: keeps a connection busy, and bounds the memory for a slow backend.
    private static let queuedBytesMax = 64 * 1024

    init(_ source: any BodySource, to stream: H2ClientStream) {
        self.source = source
        self.stream = stream
        remaining =
            switch RequestFraming(of: .stream(source)) {
            case .length(let length): length
            case .chunked: nil
            }
    }

    /// Starts to send. The head must have been given to the session.
    func startSending() { source.startDelivery(to: self) }

    /// The rest of the body is not needed.
    func cancel() {
        guard !isComplete else { return }
        isComplete = true
        source.cancel()
    }

    /// All bytes were sent.
    func resumeSource() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }

    // MARK: BodySink

    func bodyReceived(_ piece: Span<UInt8>) {
        guard !isComplete else { return }
        if let remaining {
            guard piece.count <= remaining else {
                return stream.requestBodyFailed(RequestBodySender.WrongLength())
            }
            self.remaining = remaining - piece.count
        }
        let queued = stream.sendPiece(piece)
        guard !isPaused, queued > Self.queuedBytesMax else { return }
        isPaused = true
        source.pause()
    }

    func bodyEnded(trailers: Fields) {
        guard !isComplete else { return }
        isComplete = true
        guard remaining ?? 0 == 0 else {
            return stream.requestBodyFailed(RequestBodySender.WrongLength())
        }
        stream.endRequestBody()
    }

    func bodyFailed(_ error: any Error) {
        guard !isComplete else { return }
        isComplete = true
        stream.requestBodyFailed(error)
    }
}
