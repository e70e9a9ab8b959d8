import Basics
import HTTP
import HTTP2
import Reactor

/// One HTTP/2 connection to a backend: passes bytes between its stream and the session, and has one
/// `H2ClientStream` for each call. The pool owns it.
///
/// Frames are written once per loop iteration, at its end: the requests of all calls that begin in
/// one iteration leave together. Confined to the loop's thread.
final class H2ClientConnection: PooledConnection {
    private let id: ConnectionID
    private let stream: any ByteStream
    let session: H2Session
    /// The pool closes all its connections while it is being released: `close` must not use it.
    unowned let pool: any CallPool
    let loop: any Loop
    private let writer: H2RequestWriter
    let settings: H2PoolSettings
    let limits: Limits

    private var state = State.open
    /// Streams that have not ended, as the pool counts them.
    private(set) var running = 0
    /// A response was complete.
    private(set) var wasUsed = false
    /// The capacity that the pool knows.
    private var knownCapacity: Int
    /// The streams that the backend accepts, as its refusals show; nil without one.
    private var acceptedStreams: Int?
    /// At its end the refusals are forgotten.
    private var refusalTimer: Timer?
    private var isReceiving = false
    /// Its calls get their results from `end`.
    private var isEnding = false
    /// More frames are written in the next loop iteration.
    private var continuesLater = false
    private var cancellations = CancellationBudget()
    /// Streams whose calls were cancelled, and which are not reset yet.
    private var unread: [H2ClientStream] = []
    private var unreadTimer: Timer?
    var silence: ConnectionSilence

    private enum State {
        case open
        /// It gets no call, and ends with its last one.
        case leaving
        case closed
    }

    /// Nil if memory is short.
    ///
    /// - Parameter streamsMax: calls at once until the backend states its limit
    init?(
        _ id: ConnectionID, on stream: any ByteStream, of pool: any CallPool,
        writer: H2RequestWriter,
        _ settings: H2PoolSettings, limits: Limits, streamsMax: Int
    ) {
        var sessionLimits = H2Limits()
        sessionLimits.heads = limits
        guard let session = H2Session(.client, sessionLimits, at: pool.now) else { return nil }
        self.id = id
        self.stream = stream
        self.pool = pool
        loop = pool.loop
        self.writer = writer
        self.settings = settings
        self.limits = limits
        self.session = session
        knownCapacity = streamsMax
        silence = ConnectionSilence(at: pool.now)
        session.events = self
    }

    /// Starts to read, and to write the settings of this side.
    func startReading() {
        stream.startReading(for: self)
        outputChanged()
    }

    /// Whether the backend has ended the connection behind a call that it processes.
    private(set) var endsBehindCall = false

    var isClosed: Bool { if case .closed = state { true } else { false } }

    // MARK: Calls

    func send(_ call: PendingCall) {
        assert(!isClosed && running >= 0, "a call on a closed connection")
        running += 1
        let exchange = H2ClientStream(call, on: self, reusesConnection: wasUsed)
        guard exchange.sendRequest(writer) else {
            stopCalls()
            callStreamEnded()
            return pool.resendUnprocessed(call, .refused, isCounted: !endsBehindCall)
        }
        callBegan()
        outputChanged()
    }

    func cancel(_ call: PendingCall) { call.h2Stream?.cancel() }

    /// A call has ended before its stream. Resets look like an attack to the backend
    /// (CVE-2023-44487): beyond the budget, the stream stays open and unread for a while.
    func endEarly(_ exchange: H2ClientStream) {
        if exchange.stream?.hasSentHead == false || cancellations.take(at: loop.now) {
            exchange.reset()
        } else {
            unread.append(exchange)
            armUnreadTimer()
        }
        outputChanged()
    }

    private func armUnreadTimer() {
        guard unreadTimer == nil, !unread.isEmpty else { return }
        unreadTimer = loop.timer(after: CancellationBudget.retryInterval) { [weak self] in
            self?.resetUnread()
        }
    }

    private func resetUnread() {
        unreadTimer = nil
        guard !isClosed else { return }
        unread.removeAll { $0.hasEnded }
        while let exchange = unread.last, cancellations.take(at: loop.now) {
            unread.removeLast()
            exchange.reset()
        }
        armUnreadTimer()
        outputChanged()
    }

    /// The response to a call is complete.
    func responseCompleted() { wasUsed = true }

    /// A stream has ended: the connection can have another call.
    func callStreamEnded() {
        assert(running > 0, "more calls ended than began")
        running -= 1
        pool.returnConnection(id)
        endIfUnused()
    }

    /// The backend has refused a stream, which has not ended yet: it accepts no more than the others.
    func streamRefused() {
        guard running > 1 else { return stopCalls() }
        acceptedStreams = running - 1
        updateCapacity()
        guard refusalTimer == nil else { return }
        refusalTimer = loop.timer(after: Self.refusalDuration) { [weak self] in
            self?.forgetRefusals()
        }
    }

    /// How long the first refused stream and those behind it limit the connection.
    ///
    /// 10 s: a backend that was overloaded gets all calls again soon, and one with a limit that it
    /// does not state seldom has to refuse some.
    private static let refusalDuration = Duration.seconds(10)

    private func forgetRefusals() {
        refusalTimer.take()?.cancel()
        acceptedStreams = nil
        updateCapacity()
    }

    // MARK: Capacity

    func retire() { stopCalls() }

    /// The connection gets no more calls.
    func stopCalls() {
        guard case .open = state else { return }
        state = .leaving
        updateCapacity()
        endIfUnused()
    }

    func updateCapacity() {
        guard !isClosed else { return }
        let capacity = capacity
        guard capacity != knownCapacity else { return }
        knownCapacity = capacity
        pool.setCapacity(id, capacity)
    }

    private var capacity: Int {
        guard case .open = state, !silence.isTesting else { return 0 }
        return min(settings.maxStreams, session.peerStreamsMax, acceptedStreams ?? .max)
    }

    /// Ends the connection behind its last call if it gets no other: it leaves, or the backend allows
    /// no streams on it (RFC 9113 6.5.2). Not while bytes are read, since the session is in use.
    private func endIfUnused() {
        guard knownCapacity == 0, running == 0, !isReceiving, !isClosed else { return }
        // It may get calls again when the PING is acknowledged.
        if case .open = state, silence.isTesting { return }
        pool.removeConnection(id)
    }

    // MARK: Output

    /// Unsent bytes beyond which no more frames are produced.
    ///
    /// 64 KiB: keeps a fast backend busy for one loop iteration, and bounds the memory for a slow
    /// one.
    private static let unsentBytesMax = 64 * 1024

    var blockedBytes: Int { stream.blockedBytes }

    /// The session may have frames to write: they are written at the end of the loop iteration.
    func outputChanged() {
        // Otherwise the end of the present call, the next iteration, or `streamDrained` continues.
        guard !isClosed, !isReceiving, !continuesLater,
            stream.unsentBytes < Self.unsentBytesMax, session.wantsWrite
        else { return }
        stream.flushSoon()
    }

    private func writePending() {
        let room = Self.unsentBytesMax - stream.unsentBytes
        guard room > 0 else { return }
        session.writePending(atMost: room, at: loop.now)
        guard !isClosed, session.wantsWrite, stream.unsentBytes == 0 else { return }
        // Other connections first.
        continuesLater = true
        loop.timer(after: .zero) { [weak self] in
            self?.continuesLater = false
            self?.outputChanged()
        }
    }

    // MARK: The end

    /// The connection has ended.
    ///
    /// - Parameter isFault: the backend has broken the protocol
    func end(_ cause: ClientFailure.Cause, isFault: Bool = false) {
        guard !isClosed else { return }
        let exchanges = session.streams.compactMap { $0.handler as? H2ClientStream }
        // First, so that no call is sent on it again.
        isEnding = true
        pool.removeConnection(id)
        let failure = isFault ? ClientFailure(.protocolError, cause, wasSent: true) : nil
        for exchange in exchanges { exchange.connectionEnded(cause, failure) }
    }

    /// What the backend has not received is not sent any more, but it learns of the end.
    func close() {
        guard !isClosed else { return }
        state = .closed
        unreadTimer.take()?.cancel()
        refusalTimer.take()?.cancel()
        unread = []
        silence.cancel()
        let dropped = isEnding ? [] : session.streams.compactMap { $0.handler as? H2ClientStream }
        for stream in session.streams { stream.handler = nil }
        if !isReceiving {
            // No request is sent behind it.
            session.terminate(.noError)
            session.writePending(atMost: Self.unsentBytesMax, at: loop.now)
        }
        stream.close()
        for exchange in dropped { exchange.drop() }
    }
}

extension H2ClientConnection: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        guard !isClosed else { return }
        silence.received(at: loop.now)
        isReceiving = true
        session.receive(bytes, at: loop.now)
        isReceiving = false
        guard !isClosed, !endIfBroken() else { return }
        endIfUnused()
        outputChanged()
    }

    /// True if it has ended. nghttp2 ends some connections only when it has sent its GOAWAY.
    private func endIfBroken() -> Bool {
        guard session.isBroken else { return false }
        end(.frames, isFault: true)
        return true
    }

    func streamEnded() { end(.ended) }

    func streamFlushes() {
        guard !isClosed else { return }
        writePending()
        _ = isClosed || endIfBroken()
    }

    func streamBlocked() {}

    func streamDrained() { outputChanged() }

    func streamFailed(_ failure: IOFailure) { end(.network(failure)) }
}

extension H2ClientConnection: H2SessionEvents {
    func settingsReceived() {
        pool.connectionAccepts(streams: session.peerStreamsMax)
        forgetRefusals()
    }

    func pongReceived() { endTest() }

    func goAwayReceived(lastID: Int32, _ code: H2Code) {
        if code == .enhanceYourCalm { pool.pauseConnecting() }
        // The highest id only announces another GOAWAY (RFC 9113 6.8).
        endsBehindCall = lastID > 0 && lastID < .max
        stopCalls()
    }

    /// The stream, or the connection, ends for it.
    func invalidFrameReceived() {}

    func writeFrames(_ head: Span<UInt8>, _ body: Span<UInt8>) { stream.write(head, body) }
}
