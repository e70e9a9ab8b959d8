import Basics
import HTTP
import Promises
import Reactor

/// A client's connection of HTTP/1.1: it carries bytes between the stream, the reader and the state
/// machine, and performs the machine's actions. The machine decides; an `ExchangeRunner` does the work
/// for a request.
///
/// In the server's table, and held by its stream, as long as that is open. Confined to the loop's
/// thread.
final class ServerConnection: ByteStreamDelegate {
    let stream: any ByteStream
    unowned let server: Server
    /// Where it stands in the server's table.
    var slot: Int
    /// The client that this connection counts for, where connections are limited per client.
    let countedClient: ClientConnections.Client?

    /// Unchecked, like all that is so below: each event accesses it several times, and no access calls
    /// anything that could come back to it.
    @exclusivity(unchecked) private var machine = ServerStateMachine()
    /// Events that came while another one was being handled.
    @exclusivity(unchecked) private var laterEvents: [ServerStateMachine.Event] = []
    /// Whether an event is being handled right now, further up the call stack.
    private(set) var isHandling = false
    /// The machine wants to read on, as soon as the event is handled.
    private var mustReadOn = false

    @exclusivity(unchecked) var reader: RequestReader
    /// What came before it could be read.
    @exclusivity(unchecked) var ahead = ReadAhead()
    /// Whether bytes are being read right now, further up the call stack.
    var isReading = false
    var isPaused = false
    /// When the last request began, and how many did at that moment of the loop's clock, which stands
    /// still during a pass.
    var lastBegan: Instant?
    var begunInIteration = 0

    /// The exchange that runs, until the last byte of its response is written.
    var runner: ExchangeRunner?
    /// Writes the body of a streamed response.
    var relay: ResponseRelay?
    /// Bytes of the present request's body that nothing wanted.
    var discardedBytes = 0

    @exclusivity(unchecked) var deadline = ConnectionDeadline()
    /// What this connection holds in memory, beside its request's: bytes ahead of their time, half a
    /// head, a response that the client has not read.
    @exclusivity(unchecked) var memoryBytes = 0
    /// What of it is on its way to the client.
    @exclusivity(unchecked) var unsentBytes = 0
    /// Bytes of bodies that have come over this connection.
    @exclusivity(unchecked) var receivedBytes = 0
    /// Bytes of streamed responses that were given to the stream. Unsent bytes less these fall exactly
    /// by what the client has taken.
    @exclusivity(unchecked) var pieceBytes = 0
    /// The client's address as text, for the exchanges.
    private(set) lazy var client = stream.peer.map { "\($0)" }

    init(
        _ stream: any ByteStream, of server: Server, slot: Int,
        countedClient: ClientConnections.Client?
    ) {
        self.stream = stream
        self.server = server
        self.slot = slot
        self.countedClient = countedClient
        unsafe reader = RequestReader(limits: server.settings.limits)
    }

    /// Begins to read.
    func startReading() {
        stream.startReading(for: self)
        updateDeadline()
    }

    // MARK: What the stream reports

    func streamReceived(_ bytes: Span<UInt8>) {
        if reading == .drop { return }
        let end = unsafe ahead.isEmpty ? read(bytes) : 0
        // It may have been the last message; then the rest is discarded like all that follows.
        if end < bytes.count, reading != .drop {
            unsafe ahead.append(bytes.extracting(end...))
            readAhead()
            pauseIfFull()
        }
        updateBudget()
        shedIfExhausted()
    }

    func streamEnded() {
        handle(.clientEnded)
    }

    func streamBlocked() {
        updateBudget(unsent: stream.unsentBytes)
        handle(.outputBlocked)
    }

    func streamDrained() {
        updateBudget(unsent: 0)
        handle(.outputDrained)
    }

    func streamFailed(_ failure: IOFailure) {
        handle(.clientLost)
    }

    // MARK: What the machine decides

    var reading: ServerStateMachine.Reading { unsafe machine.reading }
    var wait: ServerStateMachine.Wait? { unsafe machine.wait }
    var clientHasEnded: Bool { unsafe machine.clientHasEnded }
    var isDraining: Bool { unsafe machine.isDraining }
    var isClosed: Bool { unsafe machine.isClosed }

    /// Gives the machine an event and performs its actions. An event that comes while another one is
    /// handled, such as from a service that reads the body at once, is handled behind that.
    func handle(_ event: ServerStateMachine.Event) {
        guard !isHandling else {
            unsafe laterEvents.append(event)
            return
        }
        isHandling = true
        process(event)
        while unsafe !laterEvents.isEmpty { process(unsafe laterEvents.removeFirst()) }
        isHandling = false
        if mustReadOn { readOn() }
    }

    /// An event, and those that follow from its actions.
    private func process(_ event: ServerStateMachine.Event) {
        assert(isHandling, "an event must not be handled inside another one")
        var next: ServerStateMachine.Event? = event
        while let event = next {
            let action = unsafe machine.handle(event)
            // Before the action, so that nothing finds this connection waiting for what has come.
            updateDeadline()
            next = action.flatMap { perform($0) }
        }
    }

    /// Gives the event that the action causes at once.
    private func perform(_ action: ServerStateMachine.Action) -> ServerStateMachine.Event? {
        switch action {
        case .serve: runner?.runService()
        case .sendContinue:
            stream.write(Self.continueResponse.span)
            mustReadOn = true
        case .readOn: mustReadOn = true
        case .sendResponse(let keepsAlive): return sendResponse(keepsAlive: keepsAlive)
        case .startRelay: relay?.startRelay()
        case .resumeRelay: relay?.resumeRelay()
        case .reject(let rejection): reject(rejection)
        case .failBody(let error): runner?.requestBodyFailed(error)
        case .finish: return finish()
        case .probe: probe()
        case .abandon:
            abandonExchange()
            closeStream()
        case .close: closeStream()
        }
        return nil
    }

    private static let continueResponse = Bytes("HTTP/1.1 100 Continue\r\n\r\n")

    /// Reads what waits here, then what comes: while a request runs, too, as long as there is room for
    /// it, so that a client that leaves is seen.
    private func readOn() {
        mustReadOn = false
        readAhead()
        resumeIfRoom()
    }

    /// RFC 9112 9.6: our side ends, and what still comes is discarded for a while.
    private func finish() -> ServerStateMachine.Event? {
        unsafe ahead = ReadAhead()
        stream.finishWriting()
        updateBudget(unsent: stream.unsentBytes)
        if isPaused { stream.resumeReading() }
        isPaused = false
        return stream.unsentBytes == 0 ? .outputDrained : nil
    }

    /// A client that closed its connection and one that only ended its side look the same until
    /// something is sent: the first answers it with a reset; and of one from which nothing is read,
    /// because it sent too much ahead, nothing is seen at all. So while its request runs it is sent
    /// interim responses, which every client of HTTP/1.1 must discard (RFC 9110 15.2).
    private func probe() {
        unsafe deadline.prolongProbe(server.timeouts, now: server.loop.now)
        armTimer(server.loop.now)
        guard let runner, runner.takesInterimResponses else { return }
        stream.write(Self.processingResponse.span)
    }

    private static let processingResponse = Bytes("HTTP/1.1 102 Processing\r\n\r\n")

    private func closeStream() {
        unsafe deadline.cancel()
        server.removeActivity(at: slot)
        stream.close()
        unsafe server.budget.release(memoryBytes)
        unsafe memoryBytes = 0
        server.remove(self)
    }
}
