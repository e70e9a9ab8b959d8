import Basics
import HTTP
import HTTP2
import Promises
import Reactor

/// A client's HTTP/2 connection: passes bytes between the stream and the session, and has one
/// `H2ServerStream` for each request.
///
/// Frames are written once per loop iteration, at its end. The server's table and the stream hold
/// it while the stream is open. Confined to the loop's thread.
final class H2ServerConnection {
    let stream: any ByteStream
    let acceptance: Acceptance
    /// The index in the table.
    var slot: Int
    let session: H2Session
    /// The client's address and what else is known about it, for the exchanges.
    private(set) lazy var client = acceptance.peerAddress(of: stream)

    var state = State.open
    /// The requests that have not ended, each at the index that it stores.
    private(set) var requests: [H2ServerStream] = []
    private(set) var hadRequest = false
    /// Requests whose heads were read, until the received bytes are read to their end.
    private var beginning: [H2ServerStream] = []
    /// Bytes of request bodies that the service does not read yet.
    var storedBytes = 0
    private var hasCountedFailure = false
    /// More frames are written in the next loop iteration.
    private var continuesLater = false

    var deadline = ConnectionDeadline()
    /// How the server may end the connection.
    var activity = Activity.busy
    /// Since when the client's windows have blocked all output.
    var blockedSince: Instant?
    /// Ends the announcement of a drain.
    private var drainTimer: Timer?
    /// Ends streams whose clients do not open their windows.
    private var blockedTimer: Timer?
    /// The memory that the server's budget counts for this connection.
    private var memoryBytes = 0
    /// Bytes that arrived after this side had ended.
    private var discardedBytes = 0
    /// Bytes that were written, so that `progress` changes only by what the client takes.
    private(set) var writtenBytes = 0

    enum State {
        case open
        /// GOAWAY announces that the connection ends; streams that the client still opens are served.
        case announced
        /// New streams are not served.
        case leaving
        /// This side has ended; the client has not taken all output.
        case finishing
        /// All output was sent; the client may still send, until it ends too.
        case lingering
        case closed
    }

    /// Nil if memory is short.
    init?(_ stream: any ByteStream, _ acceptance: Acceptance, slot: Int) {
        let server = acceptance.server
        var limits = H2Limits()
        limits.heads = server.settings.limits
        limits.streams = server.settings.streamsPerConnection
        limits.acceptsExtendedConnect = server.settings.acceptsWebSocket
        guard let session = H2Session(.server, limits, at: server.loop.now) else { return nil }
        self.stream = stream
        self.acceptance = acceptance
        self.slot = slot
        self.session = session
        session.events = self
    }

    /// Its timer does not retain it.
    deinit { deadline.cancel() }

    var server: ServerContext { acceptance.server }
    var table: ConnectionTable { acceptance.table }

    /// Starts to read, and to write the settings of this side.
    func startReading() {
        stream.startReading(for: self)
        outputChanged()
        sessionChanged()
    }

    /// Takes over a stream whose former delegate has read these bytes.
    func takeOver(_ bytes: Span<UInt8>) {
        stream.replaceDelegate(with: self)
        streamReceived(bytes)
    }

    var isServing: Bool {
        switch state {
        case .open, .announced, .leaving: true
        case .finishing, .lingering, .closed: false
        }
    }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    // MARK: Requests

    /// A request has ended.
    func remove(_ request: H2ServerStream) {
        assert(requests[request.index] === request, "another request has its index")
        let last = requests.removeLast()
        if last !== request {
            requests[request.index] = last
            last.index = request.index
        }
    }

    private func beginRequests() {
        guard !beginning.isEmpty else { return }
        let begun = beginning
        beginning.removeAll(keepingCapacity: true)
        for request in begun { request.beginRequest() }
    }

    private func abandonRequests() {
        let status =
            table.isClosed ? ServerHooks.ExchangeEnd.cutOff : ServerHooks.ExchangeEnd.clientGone
        for request in requests { request.abandon(status: status) }
    }

    /// The client does not take the output at the minimum rate.
    func closeSlow() {
        for request in requests { request.runner?.exchange.streamEnded(.clientTooSlow) }
        close()
    }

    // MARK: Output

    /// Unsent bytes beyond which no more frames are produced.
    ///
    /// 64 KiB: keeps a fast client busy for one loop iteration, and bounds the memory for a slow
    /// one.
    static let unsentBytesMax = 64 * 1024

    /// The session may have frames to write: they are written at the end of the loop iteration.
    func outputChanged() {
        // Otherwise the next iteration, or `streamDrained`, continues.
        guard isServing, !continuesLater, stream.unsentBytes < Self.unsentBytesMax,
            session.wantsWrite
        else { return }
        stream.flushSoon()
    }

    /// A piece of a body waits in the session. Nothing is flushed while the client's windows are closed.
    func bodyQueued() {
        outputChanged()
        session.wantsWrite ? updateBudget() : sessionChanged()
    }

    private func writeFrames() {
        let room = Self.unsentBytesMax - stream.unsentBytes
        guard room > 0 else { return }
        session.writePending(atMost: room, at: server.loop.now)
        guard isServing, session.wantsWrite, stream.unsentBytes == 0 else { return }
        // Other connections first.
        continuesLater = true
        server.loop.timer(after: .zero) { [weak self] in
            self?.continuesLater = false
            self?.outputChanged()
        }
    }

    /// Ends streams of which the client took too little in `write_timeout`, because it has not opened
    /// their windows (CVE-2019-9517).
    private func endBlockedStreams() {
        blockedTimer = nil
        // Otherwise the deadline of the connection holds, and the streams wait for the connection.
        guard isServing, stream.unsentBytes == 0 else { return }
        for request in requests where request.isTooSlow(server.loop.now) {
            request.runner?.exchange.streamEnded(.clientTooSlow)
            session.resetAndCharge(request.stream, .cancel, at: server.loop.now)
        }
        outputChanged()
        armBlockedTimer()
    }

    private func armBlockedTimer() {
        guard session.queuedBytes > 0, stream.unsentBytes == 0, blockedTimer == nil else { return }
        let blocked = requests.lazy.filter { $0.stream.queuedBytes > 0 }
        guard let first = blocked.map(\.slowSince).min() else { return }
        let due = first + server.settings.limits.writeTimeout
        blockedTimer = server.loop.timer(after: due - server.loop.now) { [weak self] in
            self?.endBlockedStreams()
        }
    }

    // MARK: After events

    /// The state of the session has changed: ends the connection, or waits for the next event.
    private func sessionChanged() {
        guard isServing else { return }
        countFailure()
        if session.isFinished { return finish() }
        armBlockedTimer()
        updateBudget()
        updateDeadline()
    }

    private func countFailure() {
        guard let failure = session.failure, !hasCountedFailure else { return }
        hasCountedFailure = true
        switch failure {
        case .flood, .unreadAcknowledgements, .tooManyContinuations, .headTooLarge:
            server.losses.count(.flood)
        case .invalidFrame, .engine, .push: server.losses.count(.malformed)
        }
    }

    /// Reports the present memory use to the budget.
    func updateBudget() {
        guard !isClosed else { return }
        let held = session.memoryBytes + storedBytes + stream.unsentBytes
        assert(storedBytes >= 0 && held >= storedBytes, "a connection holds less than it stores")
        guard held != memoryBytes else { return }
        let before = memoryBytes
        memoryBytes = held
        server.budget.adjust(by: held - before)
        guard session.isInHeaderBlock, server.budget.isExhausted, !server.budget.hasRoom() else {
            return
        }
        // Many incomplete header blocks may be an attack.
        server.losses.count(.bufferedBytes)
        session.terminate(.enhanceYourCalm)
        outputChanged()
    }

    /// If the budget is exhausted, ends requests whose bodies arrive faster than the service takes
    /// them, until there is room.
    private func shedIfExhausted() {
        guard storedBytes > 0, server.budget.isExhausted else { return }
        for request in requests where request.machine.holdsPausedBody {
            guard !server.budget.hasRoom() else { return }
            request.shed()
            updateBudget()
        }
    }

    // MARK: End

    /// GOAWAY with the highest id; `completeDrain` follows.
    func announceDrain() {
        guard case .open = state else { return }
        state = .announced
        session.announceShutdown()
        drainTimer = server.loop.timer(after: Self.drainDelay) { [weak self] in
            self?.completeDrain()
        }
        outputChanged()
    }

    /// The time for streams that the client opened before it received the announcement, if it does
    /// not acknowledge the PING that follows it.
    private static let drainDelay = Duration.seconds(1)

    /// While the server drains, a connection that was opened meanwhile ends after its request.
    func announceDrainIfNeeded() {
        if table.isDraining { announceDrain() }
    }

    /// GOAWAY with the last stream that is served.
    func completeDrain() {
        drainTimer.take()?.cancel()
        switch state {
        case .open, .announced:
            state = .leaving
            session.shutDown()
            outputChanged()
        case .leaving, .finishing, .lingering, .closed: break
        }
    }

    /// RFC 9113 5.4.1: ends this side; further input is discarded for a while, so that a reset does
    /// not destroy the last frames.
    private func finish() {
        guard isServing else { return }
        state = .finishing
        cancelTimers()
        abandonRequests()
        stream.finishWriting()
        updateBudget()
        if stream.unsentBytes == 0 { state = .lingering }
        updateDeadline()
    }

    /// Closes the connection of a client that sends more than it can have sent before it received
    /// GOAWAY: bodies as far as its window allowed, and some frames.
    private func discard(_ count: Int) {
        guard !isClosed else { return }
        discardedBytes += count
        let most = session.limits.connectionWindow + server.settings.discardedBytes
        if discardedBytes > most { close() }
    }

    private func cancelTimers() {
        drainTimer.take()?.cancel()
        blockedTimer.take()?.cancel()
    }

    func close() {
        guard !isClosed else { return }
        state = .closed
        cancelTimers()
        deadline.cancel()
        table.removeActivity(at: slot)
        stream.close()
        server.budget.release(memoryBytes)
        memoryBytes = 0
        abandonRequests()
        assert(requests.isEmpty && storedBytes == 0, "a request outlives its connection")
        table.remove(self)
    }
}

extension H2ServerConnection: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        guard isServing else { return discard(bytes.count) }
        session.receive(bytes, at: server.loop.now)
        beginRequests()
        outputChanged()
        sessionChanged()
        shedIfExhausted()
    }

    func streamFlushes() {
        guard isServing else { return }
        writeFrames()
        sessionChanged()
    }

    /// HTTP/2 has no half-closed connections: a client that sends no more cannot open windows.
    func streamEnded() { close() }

    func streamBlocked() { sessionChanged() }

    func streamDrained() {
        if case .finishing = state { state = .lingering }
        updateBudget()
        updateDeadline()
        outputChanged()
    }

    func streamFailed(_ failure: IOFailure) {
        server.losses.count(failure)
        close()
    }
}

extension H2ServerConnection: H2SessionEvents {
    func requestReceived(
        _ stream: H2Stream, _ head: Result<RequestHead, WireError>, endsStream: Bool
    ) {
        guard isServing else { return }
        hadRequest = true
        guard heldBytes <= server.settings.bufferedBytes / Self.bytesShare else {
            return refuse(stream)
        }
        let request = H2ServerStream(
            stream, of: self, index: requests.count, head, endsStream: endsStream)
        stream.handler = request
        requests.append(request)
        beginning.append(request)
    }

    /// The connection holds more than its share of the memory.
    private func refuse(_ stream: H2Stream) {
        server.losses.count(.bufferedBytes)
        session.resetAndCharge(stream, .refusedStream, at: server.loop.now)
    }

    /// What its streams hold, in bytes.
    private var heldBytes: Int { session.queuedBytes + storedBytes + self.stream.unsentBytes }

    /// A connection that holds more than this part of `buffered_bytes` gets no further streams.
    ///
    /// A quarter: one connection must not use up what all share.
    private static let bytesShare = 4

    func invalidFrameReceived() {
        server.losses.count(.malformed)
    }

    func pongReceived() {
        if case .announced = state { completeDrain() }
    }

    func goAwayReceived(lastID: Int32, _ code: H2Code) {}

    func writeFrames(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        writtenBytes &+= head.count + body.count
        stream.write(head, body)
    }
}
