import Basics
import HTTP

/// Passes on one body of a proxied request, piece by piece and without a copy: the sink of its source, and the
/// source of its sink. Counts bytes, and reports to the transfer what happens. Confined to its worker.
///
/// The source retains it while the body arrives.
final class ProxyPipe: BodySource, BodySink {
    enum Direction { case request, response }

    private let source: any BodySource
    private let direction: Direction
    /// Until the end of the body.
    var transfer: ProxyTransfer?
    private var sink: (any BodySink)?
    /// The most bytes that pass; nil for no limit.
    private let bytesMax: Int?
    private(set) var bytes = 0
    private var isPaused = false
    /// What the receiver had not taken at the last question, or at the pause.
    private var pendingAtPause = 0
    /// The delivery has begun.
    private var hasStarted = false
    /// The delivery waits for `release`: the backend decides about the body first (RFC 9110 10.1.1).
    private var isHeld: Bool

    /// - Parameters:
    ///   - bytesMax: the most bytes that pass; nil for no limit
    ///   - isHeld: whether nothing is read from the source before `release`
    init(
        _ source: any BodySource, _ direction: Direction, bytesMax: Int? = nil,
        isHeld: Bool = false
    ) {
        self.source = source
        self.direction = direction
        self.bytesMax = bytesMax
        self.isHeld = isHeld
    }

    deinit {
        // A response whose body is not read has ended.
        if direction == .response { transfer?.responseEnded() }
    }

    var framing: BodyFraming { source.framing }

    /// Whether the next byte has to come from the source: nothing else holds the delivery back.
    var awaitsSource: Bool { hasStarted && !isPaused && sink != nil }

    var limitsTime: Bool { true }

    // MARK: From the sink

    func startDelivery(to sink: any BodySink) {
        self.sink = sink
        guard !isHeld else { return }
        start()
    }

    /// Begins a delivery that was held back.
    func release() {
        guard isHeld else { return }
        isHeld = false
        if sink != nil { start() }
    }

    private func start() {
        assert(!hasStarted && !isHeld && sink != nil, "a body is delivered twice")
        hasStarted = true
        if direction == .request { transfer?.requestStarted() }
        source.startDelivery(to: self)
    }

    /// Whether the receiver, for which the source is paused, has taken bytes since the last question, or
    /// since the pause.
    func hasReceiverMoved() -> Bool {
        guard isPaused, let sink else { return false }
        let former = pendingAtPause
        pendingAtPause = sink.pendingBytes
        return pendingAtPause < former
    }

    func pause() {
        assert(!isPaused, "a paused body is paused")
        isPaused = true
        pendingAtPause = sink?.pendingBytes ?? 0
        source.pause()
    }

    func resume() {
        assert(isPaused, "a body that is not paused is resumed")
        isPaused = false
        transfer?.recordActivity()
        source.resume()
    }

    func cancel() {
        sink = nil
        // Nothing of the body was read: the next attempt delivers it.
        guard !isHeld else { return }
        // First, because the end of the source would end the attempt as cancelled.
        switch direction {
        case .request: transfer.take()?.requestStopped(bytes)
        case .response: transfer.take()?.responseEnded()
        }
        source.cancel()
    }

    // MARK: From the source

    func bodyReceived(_ piece: Span<UInt8>) {
        assert(hasStarted, "a body arrives before its delivery")
        guard let sink else { return }
        // A body without a part of it would seem complete.
        guard let transfer else { return fail(TransferEnded()) }
        bytes += piece.count
        if let bytesMax, bytes > bytesMax { return fail(BodyTooLarge(limit: bytesMax)) }
        transfer.recordActivity()
        assert(transfer.passes(self), "a body passes outside of its phase")
        if let webSocket = transfer.webSocket {
            switch direction {
            case .request: webSocket.upload.read(piece)
            case .response: webSocket.download.read(piece)
            }
        }
        sink.bodyReceived(piece)
    }

    func bodyEnded(trailers: Fields) {
        guard let sink = sink.take() else { return }
        guard let transfer = transfer.take() else { return sink.bodyFailed(TransferEnded()) }
        switch direction {
        case .request:
            transfer.requestEnded(bytes)
            sink.bodyEnded(trailers: transfer.requestTrailers(trailers))
        case .response:
            transfer.responseEnded()
            sink.bodyEnded(trailers: transfer.responseTrailers(trailers))
        }
    }

    func bodyFailed(_ error: any Error) {
        guard let sink = sink.take() else { return }
        let transfer = transfer.take()
        switch direction {
        case .request: transfer?.requestFailed(bytes, error)
        case .response: transfer?.responseTruncated(by: error)
        }
        sink.bodyFailed(error)
    }

    /// Ends a direction of a tunnel behind these bytes. The source is not cancelled, because its connection
    /// still sends the other direction; what it delivers is dropped.
    func end(with bytes: Bytes) {
        guard let sink = sink.take() else { return }
        sink.bodyReceived(bytes.span)
        switch direction {
        case .request: transfer.take()?.requestEnded(self.bytes)
        case .response: transfer.take()?.responseEnded()
        }
        sink.bodyEnded(trailers: Fields())
    }

    /// Ends what `end(with:)` left open.
    func cancelSource() { source.cancel() }

    /// Ends the body as truncated.
    func fail(_ error: any Error) {
        guard let sink = sink.take() else { return }
        // First, as in `cancel`.
        switch direction {
        case .request: transfer.take()?.requestFailed(bytes, error)
        case .response: transfer.take()?.responseEnded()
        }
        source.cancel()
        sink.bodyFailed(error)
    }
}

/// The body goes on after the end of its transfer.
struct TransferEnded: Error {}
