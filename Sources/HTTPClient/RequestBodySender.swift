import Basics
import HTTP

/// What takes the body of a request: a connection of HTTP/1.1, or a stream of HTTP/2.
protocol RequestBodyTarget: AnyObject {
    /// What was sent and the backend has not taken, in bytes.
    var pendingBytes: Int { get }

    /// Sends a piece; returns the bytes that wait to be sent.
    func sendPiece(_ piece: Span<UInt8>) -> Int

    /// The last piece was sent.
    ///
    /// - Parameter trailers: only HTTP/2 sends them
    func endRequestBody(trailers: Fields)

    /// The body cannot be sent. Called at most once, and then nothing else.
    func requestBodyFailed(_ error: any Error)
}

/// The source of a body delivered more or fewer bytes than it had stated.
struct WrongLength: Error {}

/// Sends the body of a request while it arrives from its source. The connection or stream of the
/// call owns it until the call ends.
///
/// Pauses the source while more than `unsentBytesMax` wait to be sent. The worker's budget counts them.
final class RequestBodySender<Target: RequestBodyTarget>: BodySink {
    let target: Target
    private let source: any BodySource
    /// The remaining bytes of the stated length; nil without one.
    private var remaining: Int?
    private var isPaused = false
    /// Nil for a call of no exchange, and without a limit.
    private let budget: ByteBudget?
    /// The unsent bytes that the budget counts.
    private var countedBytes = 0

    /// Whether the whole body was sent, or no more of it will be.
    private(set) var isComplete = false
    private var isCancelled = false

    /// In bytes.
    ///
    /// 64 KiB: keeps a connection busy, and bounds the memory for a slow backend.
    private static var unsentBytesMax: Int { 64 * 1024 }

    /// - Parameters:
    ///   - length: the length that the head states; nil if it states none
    ///   - exchange: that of the call; nil if its memory is not limited
    init(_ source: any BodySource, length: Int?, to target: Target, for exchange: Exchange?) {
        self.source = source
        self.target = target
        remaining = length
        budget = exchange?.budget
    }

    /// Its owner drops it when no byte is unsent any more, or none will be sent.
    deinit { budget?.release(countedBytes) }

    /// Starts to send. The head must have been sent.
    func startSending() { source.startDelivery(to: self) }

    /// Cancels the rest of the body.
    func cancel() {
        isCancelled = true
        guard !isComplete else { return }
        isComplete = true
        source.cancel()
    }

    /// The target could not send so many bytes at once.
    func outputBlocked(unsent: Int) {
        // Freeing memory may have cancelled the call.
        guard !count(unsent), !isCancelled else { return }
        target.requestBodyFailed(ClientFailure(.memoryLimit, .memory, wasSent: true))
    }

    /// Changes the bytes that the budget counts to those that are unsent; false if more do not fit.
    private func count(_ unsent: Int) -> Bool {
        let more = unsent - countedBytes
        guard more > 0 else {
            countedBytes = unsent
            budget?.release(-more)
            return true
        }
        guard budget?.reserve(more) ?? true else { return false }
        countedBytes += more
        return true
    }

    /// The target has sent all unsent bytes.
    func outputDrained() {
        _ = count(0)
        guard isPaused, !isComplete else { return }
        isPaused = false
        source.resume()
    }

    // MARK: BodySink

    var pendingBytes: Int { target.pendingBytes }

    func bodyReceived(_ piece: Span<UInt8>) {
        guard !isComplete else { return }
        if let remaining {
            // The end of the call cancels the source.
            guard piece.count <= remaining else { return target.requestBodyFailed(WrongLength()) }
            self.remaining = remaining - piece.count
        }
        let unsentBytes = target.sendPiece(piece)
        outputBlocked(unsent: unsentBytes)
        // Which may have ended the call.
        guard !isComplete, !isPaused, unsentBytes > Self.unsentBytesMax else { return }
        isPaused = true
        source.pause()
    }

    func bodyEnded(trailers: Fields) {
        // A source that could not begin reports its end later, possibly after that of the call.
        guard !isComplete else { return }
        isComplete = true
        guard remaining ?? 0 == 0 else { return target.requestBodyFailed(WrongLength()) }
        target.endRequestBody(trailers: trailers)
    }

    func bodyFailed(_ error: any Error) {
        guard !isComplete else { return }
        isComplete = true
        target.requestBodyFailed(error)
    }
}
