import Basics
import HTTP
import HTTP2
import Promises
import Reactor

/// A client's request on an HTTP/2 connection, from its head to the end of its response: it passes bytes between the
/// session and the exchange, and performs the actions of its machine. The machine decides; an `ExchangeRunner` does
/// the work.
///
/// Its connection holds it until the end. Confined to the loop's thread.
final class H2ServerStream {
    let stream: H2Stream
    /// Nil after the end.
    private(set) var connection: H2ServerConnection?
    /// The index in the connection's table.
    var index: Int
    private(set) var machine: H2StreamMachine

    /// What the client sent, until it is passed on.
    private var head: Result<RequestHead, WireError>?
    var runner: ExchangeRunner?
    /// Writes the body of a streamed response.
    var bodyWriter: BodyWriter?

    /// The fields behind the body of the request, until they are passed on with its end.
    private var trailers = Fields()
    /// Bytes of the body that the service does not read yet.
    private var stored = ReadAhead()
    private var deadline = ConnectionDeadline()
    /// How fast the client takes the response: for `write_timeout`, and while a limit is short.
    var timeoutPace: ClientPace
    var shortagePace: ClientPace

    init(
        _ stream: H2Stream, of connection: H2ServerConnection, index: Int,
        _ head: Result<RequestHead, WireError>, endsStream: Bool
    ) {
        self.stream = stream
        self.connection = connection
        self.index = index
        self.head = head
        machine = H2StreamMachine(endsStream: endsStream)
        timeoutPace = ClientPace(since: stream.queuedSince)
        shortagePace = timeoutPace
    }

    /// Its timer does not retain it.
    deinit { deadline.cancel() }

    /// Its exchange, if it runs a request.
    var exchange: Exchange? { runner.flatMap { $0.isRequest ? $0.exchange : nil } }

    // MARK: Decisions of the state machine

    func handle(_ event: H2StreamMachine.Event) {
        guard let connection else { return }
        let action = machine.handle(event)
        if machine.dropsStored { discardStored() }
        // Before the action, so that the wait is up to date.
        updateDeadline(connection.server)
        if let action { perform(action, on: connection) }
        assert(
            self.connection == nil || stored.count == machine.storedBytes,
            "the machine counts other bytes than are stored")
    }

    private func perform(_ action: H2StreamMachine.Action, on connection: H2ServerConnection) {
        switch action {
        case .beginDelivery(let sendsContinue, let growsWindow):
            if sendsContinue { sendInterim(.continue, Fields()) }
            beginDelivery(on: connection, growsWindow: growsWindow)
        case .deliverStored: deliverStored(connection.session)
        case .endBody: runner?.requestBodyEnded(trailers)
        case .sendResponse: sendResponse(on: connection)
        case .reject(let rejection, let isCharged):
            if isCharged { connection.session.chargeReset(at: now) }
            reject(rejection, on: connection)
        case .reset(let code, let isCharged, let end):
            if let end { runner?.exchange.streamEnd = end }
            if isCharged { connection.session.chargeReset(at: now) }
            connection.session.reset(stream, code)
        case .endSlowExchange: endSlowExchange(on: connection)
        case .endExchange:
            takeRunner()?.endExchange(bodyBytes: stream.sentBytes)
            // RFC 9113 8.1: the client need not send the rest of its request.
            connection.session.reset(stream, .noError)
        case .cutOffResponse: cutOffResponse(on: connection)
        case .cancelExchange(let status): takeRunner()?.cancel(status: status)
        }
    }

    // MARK: Begin

    /// Passes the request on, when all bytes that arrived together with its head are read: a body
    /// among them is passed on complete, and a request that was reset among them not at all.
    func beginRequest() {
        guard let head = head.take(), let connection else { return }
        switch head {
        case .success(let head): beginExchange(head, on: connection)
        case .failure(let error): rejectHead(error, on: connection)
        }
    }

    private func beginExchange(_ head: RequestHead, on connection: H2ServerConnection) {
        assert(runner == nil && bodyWriter == nil, "a request begins twice")
        let facts = H2StreamMachine.Facts(
            isTunnel: head.opensWebSocket, expectsContinue: head.expectsContinue,
            statesLength: head.framing != .chunked, hasTrailers: !trailers.isEmpty)
        let body: Bytes?
        switch machine.begin(facts) {
        case .empty: body = Bytes()
        case .stored:
            let bytes = takeStored()
            connection.session.didDiscard(bytes.count)
            body = bytes
        case .streamed: body = nil
        }
        let server = connection.server
        let runner = ExchangeRunner(
            head, body, server.makeExchange(for: head, from: connection.client), carrier: self,
            of: server)
        self.runner = runner
        runner.runService()
    }

    // MARK: The body of the request

    private func beginDelivery(on connection: H2ServerConnection, growsWindow: Bool) {
        if growsWindow { connection.session.growWindow(of: stream, to: Self.streamedWindow) }
        connection.server.loop.local.value(()).whenSettled { [self] _ in
            handle(.deliveryBegan)
            self.connection?.outputChanged()
        }
    }

    /// The window of a body that is passed on as it arrives, in bytes.
    ///
    /// 256 KiB: 20 MiB/s with a round trip of 12 ms.
    private static let streamedWindow = 256 * 1024

    private func deliverStored(_ session: H2Session) {
        let bytes = takeStored()
        runner?.requestBody?.deliver(bytes.span)
        session.didConsume(bytes.count, on: stream)
        handle(.storedDelivered)
    }

    private func store(_ piece: Span<UInt8>) {
        stored.append(piece)
        connection?.storedBytes += piece.count
        assert(stored.count == machine.storedBytes)
    }

    private func takeStored() -> Bytes {
        let bytes = stored.bytes
        stored = ReadAhead()
        connection?.storedBytes -= bytes.count
        return bytes
    }

    private func discardStored() {
        guard let connection, !stored.isEmpty else { return }
        connection.session.didDiscard(takeStored().count)
    }

    /// Ends the request, of which it holds a part, because the memory is used up; its client may repeat it.
    func shed() {
        connection?.server.losses.count(.bufferedBytes)
        handle(.memoryShort)
        connection?.outputChanged()
    }

    // MARK: Time limit of the body

    private func updateDeadline(_ server: ServerContext) {
        let wait: ConnectionWait? = machine.limitsBodyTime ? .body : nil
        guard wait != deadline.wait else { return }
        let now = server.loop.now
        deadline.update(wait, server.timeouts, progress, now: now)
        armTimer(server, now)
    }

    private var progress: ConnectionDeadline.Progress {
        ConnectionDeadline.Progress(received: machine.receivedBytes)
    }

    private func armTimer(_ server: ServerContext, _ now: Instant) {
        guard let due = deadline.timerNeeded else { return }
        deadline.timer?.cancel()
        // Not weak, as in `ServerConnection.armTimer`.
        deadline.timer = server.loop.timer(after: due - now) { [unowned self] in timerFired() }
    }

    private func timerFired() {
        guard let server = connection?.server else { return }
        let now = server.loop.now
        if deadline.hasPassed(server.timeouts, progress, now: now) {
            handle(.deadlinePassed)
            connection?.outputChanged()
        }
        armTimer(server, now)
    }

    // MARK: End

    /// The client is gone, or its response cannot be completed.
    ///
    /// - Parameter status: for the log, if no response was begun
    func abandon(status: UInt16) {
        handle(.clientLost(hasSentBody: stream.sentBytes > 0, status: status))
    }

    /// Leaves the connection; returns the runner, whose exchange ends.
    func takeRunner() -> ExchangeRunner? {
        deadline.cancel()
        bodyWriter = nil
        stream.handler = nil
        connection.take()?.remove(self)
        return runner.take()
    }
}

extension H2ServerStream: H2StreamEvents {
    func dataReceived(_ piece: Span<UInt8>) {
        guard let session = connection?.session else { return }
        switch machine.receive(piece.count) {
        case .deliver:
            runner?.requestBody?.deliver(piece)
            session.didConsume(piece.count, on: stream)
        case .store: store(piece)
        case .drop: session.didDiscard(piece.count)
        }
    }

    func bodyEnded(trailers: Fields) {
        self.trailers = trailers
        handle(.clientEnded)
    }

    func outputDrained() { bodyWriter?.outputDrained() }

    func outputLow() { responseHandedOver() }

    func outputEnded() { handle(.responseSent) }

    func streamClosed(_ code: H2Code, isReset: Bool) {
        abandon(status: stream.isMalformed ? 400 : ServerHooks.ExchangeEnd.clientGone)
    }
}
