import Basics
import HTTP
import Reactor

/// The body of one response, delivered while it arrives. Confined to the loop of its pool.
///
/// The connection is not read (HTTP/2: its stream gets no credit) until a sink takes the body, and
/// while the sink pauses it. Bytes that were read before are buffered: at most one read, or the window
/// of a stream. The worker's budget counts those that a sink does not take. The user owns the source:
/// dropping it before the delivery starts cancels the call. From then on the source retains itself
/// until the end of the body.
final class ResponseBodySource: BodySource {
    let framing: BodyFraming

    fileprivate let call: PendingCall
    /// Nil after the response is complete or has failed: the connection may then serve another
    /// call.
    fileprivate var connection: (any ResponseCarrier)?

    private enum Delivery {
        /// No sink has taken the body yet.
        case waiting
        case flowing(any BodySink)
        case paused(any BodySink)
        /// The sink got its last call, or cancelled.
        case over
    }

    private enum Outcome {
        case complete
        case failed(any Error)
    }

    private var delivery = Delivery.waiting
    /// Bytes that were read and not delivered yet.
    private var buffered: [UInt8] = []
    private var trailerLines: [UInt8] = []
    /// Delivered behind `buffered`.
    private var outcome: Outcome?
    /// Whether `deliverBuffered` will run: never from inside a call of the sink.
    private var isDeliveryScheduled = false
    private var selfReference: ResponseBodySource?
    /// The buffered bytes that the budget counts.
    private var countedBytes = 0

    init(_ framing: BodyFraming, of call: PendingCall, on connection: any ResponseCarrier) {
        self.framing = framing
        self.call = call
        self.connection = connection
    }

    deinit {
        call.source = nil
        _ = takeBuffered()
        if connection != nil { call.pool.cancelCall(call) }
    }

    /// Whether the budget counts buffered bytes only, and nothing is kept after the end. For assertions.
    private var isConsistent: Bool {
        guard countedBytes >= 0 && countedBytes <= buffered.count else { return false }
        if case .over = delivery { return buffered.isEmpty && countedBytes == 0 }
        return true
    }

    // MARK: Memory

    /// Nil for a call of no exchange, and without a limit.
    private var budget: ByteBudget? { call.request.exchange?.exchange.budget }

    /// Throws if the budget has no room for a piece; drops what is buffered then.
    private func buffer(_ piece: Span<UInt8>) throws(ClientFailure) {
        switch delivery {
        // It arrived together with the head: a sink takes it before anything else is read.
        case .waiting: break
        case .flowing, .paused:
            guard budget?.reserve(piece.count) ?? true else { throw memoryExceeded() }
            countedBytes += piece.count
        case .over: return
        }
        buffered.append(copying: piece)
        // Freeing memory may have cancelled the delivery.
        if case .over = delivery { _ = takeBuffered() }
        assert(isConsistent, "the budget counts bytes that are not buffered")
    }

    private func memoryExceeded() -> ClientFailure {
        _ = takeBuffered()
        // A pause does not delay the failure: the memory that the sink holds is needed, too.
        if case .paused(let sink) = delivery { delivery = .flowing(sink) }
        return ClientFailure(.memoryLimit, .memory, wasSent: true)
    }

    /// The buffered bytes, which the budget counts no longer.
    private func takeBuffered() -> [UInt8] {
        let bytes = buffered
        buffered = []
        if countedBytes > 0 { budget?.release(countedBytes) }
        countedBytes = 0
        return bytes
    }

    // MARK: From the connection

    /// A piece of the body arrived. At most the rest of one read, or the window of a stream, is
    /// buffered, since the connection is paused while pieces are not delivered. Throws if there is no
    /// memory for it.
    func receive(_ piece: Span<UInt8>) throws(ClientFailure) {
        assert(outcome == nil, "a piece after the end of its body")
        if case .flowing(let sink) = delivery, buffered.isEmpty {
            return sink.bodyReceived(piece)
        }
        try buffer(piece)
    }

    /// A piece of the trailer section arrived. `Limits.trailerBytes` bounds all of them.
    func receiveTrailers(_ piece: Span<UInt8>) {
        trailerLines.append(copying: piece)
    }

    /// The body is complete; the connection was returned to the pool.
    func complete() { setOutcome(.complete) }

    /// The rest of the body does not arrive.
    func fail(_ error: any Error) { setOutcome(.failed(error)) }

    private func setOutcome(_ outcome: Outcome) {
        assert(self.outcome == nil, "a body ends twice")
        connection = nil
        self.outcome = outcome
        if case .flowing(let sink) = delivery, buffered.isEmpty { finish(outcome, sink) }
    }

    // MARK: From the sink

    func takeComplete() -> Bytes? {
        guard case .waiting = delivery, case .complete = outcome, case .length = framing,
            trailerLines.isEmpty
        else { return nil }
        delivery = .over
        return Bytes(takeBuffered())
    }

    func startDelivery(to sink: any BodySink) {
        guard case .waiting = delivery else { return }
        delivery = .flowing(sink)
        selfReference = self
        deliver()
    }

    func pause() {
        guard case .flowing(let sink) = delivery else { return }
        delivery = .paused(sink)
        connection?.pauseReading()
    }

    func resume() {
        guard case .paused(let sink) = delivery else { return }
        delivery = .flowing(sink)
        deliver()
    }

    func cancel() {
        if case .over = delivery { return }
        delivery = .over
        _ = takeBuffered()
        assert(isConsistent, "bytes are kept after the end")
        let wasPending = connection.take() != nil
        if wasPending { call.pool.cancelCall(call) }
        selfReference = nil
    }

    // MARK: Delivery

    /// Delivers buffered bytes, then further ones as they arrive.
    private func deliver() {
        guard buffered.isEmpty, outcome == nil else {
            guard !isDeliveryScheduled else { return }
            isDeliveryScheduled = true
            return call.pool.runSoon { self.deliverBuffered() }
        }
        connection?.resumeReading()
    }

    private func deliverBuffered() {
        isDeliveryScheduled = false
        guard case .flowing(let sink) = delivery else { return }
        let piece = takeBuffered()
        if !piece.isEmpty { sink.bodyReceived(piece.span) }
        // The sink may have paused the delivery or cancelled it.
        guard case .flowing = delivery else { return }
        if let outcome { finish(outcome, sink) } else { connection?.resumeReading() }
    }

    private func finish(_ outcome: Outcome, _ sink: any BodySink) {
        delivery = .over
        assert(isConsistent, "a body ends before its last byte")
        switch outcome {
        case .complete: sink.bodyEnded(trailers: Fields(trailerLines: trailerLines))
        case .failed(let error): sink.bodyFailed(error)
        }
        selfReference = nil
    }
}

/// After an upgrade.
extension ResponseBodySource: Tunnel {
    var protocolName: FieldValue { call.stream?.upgrade ?? "" }

    func send(from source: any BodySource) {
        guard let connection else { return source.cancel() }
        connection.sendTunnel(from: source)
    }
}
