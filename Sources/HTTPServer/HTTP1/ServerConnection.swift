import Basics
import HTTP
import Promises
import Reactor

/// A client's HTTP/1.1 connection: it passes bytes between the stream, the reader and the state
/// machine, and performs the machine's actions. The machine decides; an `ExchangeRunner` does the
/// work for a request.
///
/// The table and the stream hold it while the stream is open. Confined to the loop's
/// thread.
final class ServerConnection: ByteStreamDelegate {
    let stream: any ByteStream
    let acceptance: Acceptance
    /// From the acceptance. A property of its own, because each use through the structure counts references of
    /// the loop.
    let server: ServerContext
    /// The index in the table.
    var slot: Int

    private var machine = ServerStateMachine()
    // Declared next to the machine, whose padding they fill.
    /// Whether an event is being handled, further up the call stack.
    private(set) var isHandling = false
    /// Whether to read on after the present event.
    private var mustReadOn = false
    /// Whether bytes are being read, further up the call stack.
    var isReading = false
    var isPaused = false
    /// Events that occurred while another one was handled.
    private var laterEvents: [ServerStateMachine.Event] = []

    var reader: RequestReader
    /// Bytes that arrived before they could be read.
    var ahead = ReadAhead()
    /// Begins to watch for the end of the client while reading is paused.
    var watchTimer: Timer?
    var pace = RequestPace()

    /// The running exchange, until the last byte of its response is written.
    var runner: ExchangeRunner?
    /// The exchange whose response is written, and not sent to its end.
    var unsentExchange: UnsentExchange?
    /// Writes the body of a streamed response.
    var bodyWriter: BodyWriter?

    var deadline = ConnectionDeadline()
    var counts = ByteCounts()
    /// The client's address and what else is known about it, for the exchanges.
    private(set) lazy var client = acceptance.peerAddress(of: stream)

    init(_ stream: any ByteStream, _ acceptance: Acceptance, slot: Int) {
        self.stream = stream
        self.acceptance = acceptance
        server = acceptance.server
        self.slot = slot
        reader = RequestReader(limits: server.wireLimits)
    }

    var table: ConnectionTable { acceptance.table }

    /// Its timers do not retain it.
    deinit {
        deadline.cancel()
        watchTimer?.cancel()
    }

    /// Starts to read.
    func startReading() {
        stream.startReading(for: self)
        updateDeadline()
    }

    /// Takes over a stream whose former delegate has read these bytes.
    func takeOver(_ bytes: Span<UInt8>) {
        stream.replaceDelegate(with: self)
        updateDeadline()
        streamReceived(bytes)
    }

    /// Takes over a stream whose former delegate has paused it after it had read something else than a
    /// request: rejects the connection.
    func rejectOpened(_ rejection: Rejection) {
        stream.replaceDelegate(with: self)
        updateDeadline()
        handle(.rejected(rejection))
        stream.resumeReading()
    }

    // MARK: Events of the stream

    func streamReceived(_ bytes: Span<UInt8>) {
        if reading == .drop { return }
        let end = ahead.isEmpty ? read(bytes) : 0
        // After the last message the rest is discarded, like all further input.
        if end < bytes.count, reading != .drop {
            ahead.append(bytes.extracting(end...))
            readAhead()
            pauseIfFull()
        }
        updateBudget()
        shedIfExhausted()
    }

    func streamEnded() {
        handle(.clientEnded)
    }

    func streamEndPending(_ end: PendingEnd) {
        switch end {
        case .finished: handle(.clientEndPending)
        case .lost: handle(.clientLost)
        }
    }

    func streamBlocked() {
        updateBudget(unsent: stream.unsentBytes)
        handle(.outputBlocked)
    }

    func streamDrained() {
        updateBudget(unsent: 0)
        endUnsentExchange(dropping: 0)
        handle(.outputDrained)
    }

    func streamFailed(_ failure: IOFailure) {
        server.losses.count(failure)
        handle(.clientLost)
    }

    // MARK: Decisions of the state machine

    var reading: ServerStateMachine.Reading { machine.reading }
    var wait: ConnectionWait? { machine.wait }
    var isBodyPaused: Bool { machine.isBodyPaused }
    var clientHasEnded: Bool { machine.clientHasEnded }
    var isDraining: Bool { machine.isDraining }
    var isClosed: Bool { machine.isClosed }
    var isRunning: Bool { machine.isRunning }

    /// Passes an event to the machine and performs its actions. An event that occurs meanwhile, for
    /// example from a service that reads the body at once, is handled afterwards.
    func handle(_ event: ServerStateMachine.Event) {
        guard !isHandling else {
            laterEvents.append(event)
            return
        }
        isHandling = true
        process(event)
        while !laterEvents.isEmpty { process(laterEvents.removeFirst()) }
        isHandling = false
        if mustReadOn { readOn() }
    }

    /// Handles an event, and those that its actions cause.
    private func process(_ event: ServerStateMachine.Event) {
        assert(isHandling, "an event must not be handled inside another one")
        var next: ServerStateMachine.Event? = event
        while let event = next {
            let action = machine.handle(event)
            // Before the action, so that the wait is up to date when the action looks at it.
            updateDeadline()
            next = action.flatMap { perform($0) }
        }
    }

    /// Performs an action; returns the event that it causes at once.
    private func perform(_ action: ServerStateMachine.Action) -> ServerStateMachine.Event? {
        switch action {
        case .serve:
            assert(runner?.isRequest == true, "a rejection is served")
            runner?.runService()
        case .sendContinue:
            stream.write(
                Self.continueResponse.span.extracting(droppingFirst: takeVersionBytesSent()))
            mustReadOn = true
        case .readOn: mustReadOn = true
        case .sendResponse(let keepsAlive): return sendResponse(keepsAlive: keepsAlive)
        case .startBody:
            assert(bodyWriter != nil, "a body without a writer")
            bodyWriter?.start()
        case .startTunnel:
            bodyWriter?.start()
            runner?.startUpload()
        case .endUpload: runner?.requestBody?.deliverEnd()
        case .resumeBody: bodyWriter?.outputDrained()
        case .reject(let rejection): reject(rejection)
        case .failBody(let error): runner?.requestBodyFailed(error)
        case .finish: return finish()
        case .probe: probe()
        case .abandon:
            let isCutShort = bodyEndsAtClose
            abandonExchange()
            closeStream(isCutShort: isCutShort)
        case .close: closeStream()
        }
        return nil
    }

    private static let continueResponse = Bytes("HTTP/1.1 100 Continue\r\n\r\n")

    /// Reads stored bytes, then further ones: also while a request runs, as long as there is room,
    /// so that the end of the client is detected.
    private func readOn() {
        mustReadOn = false
        readAhead()
        resumeIfRoom()
    }

    /// RFC 9112 9.6: ends this side; further input is discarded for a while.
    private func finish() -> ServerStateMachine.Event? {
        ahead = ReadAhead()
        stream.finishWriting()
        updateBudget(unsent: stream.unsentBytes)
        if isPaused { stream.resumeReading() }
        isPaused = false
        return stream.unsentBytes == 0 ? .outputDrained : nil
    }

    /// Sends a byte to find out whether the client still exists. A client that closed its connection and one that
    /// only half-closed it look the same until something is sent: the former responds with a reset. While
    /// reading is paused, because the client sent too much ahead, its end is not detected at all.
    ///
    /// The byte is the next one of the version with which every response begins, so that no client sees more than a
    /// response that arrives in pieces. An interim response would do, too, but some clients take it for the final
    /// one.
    private func probe() {
        deadline.prolongProbe(server.timeouts, now: server.loop.now)
        armTimer(server.loop.now)
        let sent = counts.versionSent
        guard let runner, runner.isRequest, sent < Self.version.count else { return }
        stream.write(Self.version.span.extracting(sent..<(sent + 1)))
        counts.versionSent += 1
    }

    private static let version = Bytes("HTTP/1.1 ")

    /// The bytes of the next head that were sent already.
    func takeVersionBytesSent() -> Int {
        defer { counts.versionSent = 0 }
        return counts.versionSent
    }

    /// - Parameter isCutShort: the response is incomplete, and a client would not notice it if the
    ///   connection were closed without a reset (RFC 9112 8)
    private func closeStream(isCutShort: Bool = false) {
        assert(
            isClosed && runner == nil && bodyWriter == nil, "an exchange outlives its connection")
        endUnsentExchange(dropping: stream.unsentBytes)
        deadline.cancel()
        watchTimer.take()?.cancel()
        table.removeActivity(at: slot)
        if isCutShort || stream.unsentBytes > 0 { stream.reset() } else { stream.close() }
        assert(counts.versionSent <= Self.version.count, "a probe beyond the version")
        server.budget.release(counts.memory)
        counts.memory = 0
        table.remove(self)
    }
}

/// The bytes of a client's HTTP/1.1 connection, by what they are counted for.
struct ByteCounts {
    /// The memory of the connection without its request: early bytes, an incomplete head,
    /// a response that the client has not read.
    var memory = 0
    /// The part of it that is unsent output.
    var unsent = 0
    /// Received bytes of bodies.
    var received = 0
    /// Discarded bytes of the present request's body.
    var discarded = 0
    /// Bytes of streamed responses that were written. `progress` subtracts them, so that its
    /// `unsent` changes only by what the client takes.
    var pieces = 0
    /// The bytes of the version of the next response that probes have sent.
    var versionSent = 0
}
