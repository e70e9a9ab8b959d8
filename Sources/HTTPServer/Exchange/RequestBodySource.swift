import Basics
import HTTP
import Promises

/// The body of a request while it arrives: delivers received bytes to the sink of the service.
///
/// Exists only for bodies that did not arrive together with their head. The exchange's runner owns
/// it; the service may hold it for longer, but gets nothing from it after the end of the exchange.
final class RequestBodySource: BodySource {
    let framing: BodyFraming
    private let exchange: Exchange
    /// Until the end of the exchange.
    private var carrier: (any ExchangeCarrier)?
    private var sink: (any BodySink)?
    private var hasStarted = false
    private var isPaused = false
    private var receivedBytes = 0
    private var pace = ClientPace(since: Instant(nanoseconds: 0))
    /// The trailer section of HTTP/1.1, as far as it has arrived.
    private var trailerLines: [UInt8] = []

    init(_ framing: BodyFraming, of exchange: Exchange, carrier: any ExchangeCarrier) {
        self.framing = framing
        self.exchange = exchange
        self.carrier = carrier
    }

    var memoryOwner: (any MemoryOwner)? { exchange }

    /// Whether a sink waits for more of the body.
    var isBeingRead: Bool { sink != nil }

    /// Whether the sink itself limits the time for the body.
    var isTimedBySink: Bool { sink?.limitsTime ?? false }

    // MARK: For the service

    func startDelivery(to sink: any BodySink) {
        guard !hasStarted else { return fail(sink, AlreadyDelivered()) }
        hasStarted = true
        guard let carrier else { return fail(sink, ExchangeEnded()) }
        self.sink = sink
        beginPace()
        carrier.bodyDemandChanged(to: .started(isTimed: sink.limitsTime))
    }

    func pause() {
        guard isBeingRead else { return }
        isPaused = true
        carrier?.bodyDemandChanged(to: .paused)
    }

    func resume() {
        guard isBeingRead else { return }
        isPaused = false
        beginPace()
        carrier?.bodyDemandChanged(to: .resumed)
    }

    func cancel() {
        guard sink.take() != nil else { return }
        carrier?.bodyDemandChanged(to: .cancelled)
    }

    /// Not at once: no sink is called before `startDelivery` returns.
    private func fail(_ sink: any BodySink, _ error: any Error) {
        exchange.local.value(()).whenSettled { _ in sink.bodyFailed(error) }
    }

    // MARK: For the connection

    /// Since when its reader has waited for bytes that the client does not send at the minimum rate; nil
    /// if it does not wait, or gets them.
    ///
    /// - Parameter rate: in bytes per second
    func awaitedSince(rate: Int, now: Instant) -> Instant? {
        guard isBeingRead, !isPaused else { return nil }
        let milliseconds = Int(clamping: (now - pace.since).inNanoseconds / 1_000_000)
        let (bytes, overflow) = milliseconds.multipliedReportingOverflow(by: rate)
        return pace.slowSince(
            receivedBytes, needing: overflow ? .max : bytes / 1000, now: now)
    }

    private func beginPace() {
        if let carrier { pace = ClientPace(since: carrier.now, base: receivedBytes) }
    }

    /// Further bytes have arrived.
    func deliver(_ piece: Span<UInt8>) {
        assert(
            sink == nil || hasStarted && carrier != nil, "a body is delivered after its exchange")
        receivedBytes &+= piece.count
        sink?.bodyReceived(piece)
    }

    /// A piece of the trailer section of HTTP/1.1 has arrived: checked lines, which may be cut.
    /// `Limits.trailerBytes` bounds all of them.
    func receiveTrailers(_ piece: Span<UInt8>) {
        if isBeingRead { trailerLines.append(copying: piece) }
    }

    /// The last byte has arrived.
    ///
    /// - Parameter trailers: nil for those that `receiveTrailers` received
    func deliverEnd(_ trailers: Fields? = nil) {
        guard let sink = sink.take() else { return }
        let lines = trailerLines
        trailerLines = []
        sink.bodyEnded(trailers: trailers ?? Fields(trailerLines: lines))
    }

    /// The rest cannot be read.
    func fail(_ error: any Error) {
        sink.take()?.bodyFailed(error)
    }

    /// The exchange has ended; nothing is delivered any more.
    func detach() {
        carrier = nil
        fail(ExchangeEnded())
    }

    /// A body was read twice: an error of the service.
    struct AlreadyDelivered: Error {}

    /// The exchange ended before its request's body.
    struct ExchangeEnded: Error {}
}
