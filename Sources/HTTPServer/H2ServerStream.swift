import Basics
import HTTP
import HTTP2
import Promises
import Reactor

/// A client's request on an HTTP/2 connection, from its head to the end of its response: passes
/// the body of the request to the service, as far as that reads it, and sends the response.
///
/// Its connection holds it until the end; an `ExchangeRunner` does the work. Confined to the loop's
/// thread.
final class H2ServerStream {
    let stream: H2Stream
    /// Nil after the end.
    private(set) var connection: H2ServerConnection?
    /// The index in the connection's table.
    var index: Int

    /// What the client sent, until it is passed on.
    private var head: Result<RequestHead, WireError>?
    private(set) var runner: ExchangeRunner?
    /// Writes the body of a streamed response.
    var bodyWriter: BodyWriter?
    /// Whether the head of the response was given to the session.
    private(set) var hasResponded = false

    private var upload = Upload.arriving
    /// The client has ended its side.
    private var clientHasEnded: Bool
    /// The fields behind the body of the request, until they are passed on with its end.
    private var trailers = Fields()
    /// Bytes of the body that the service does not read yet. The client gets no credit for them, so
    /// that the window bounds them.
    private var stored = ReadAhead()
    /// The service starts to read, and gets nothing before its call has returned.
    private var isStarting = false
    private var receivedBytes = 0
    private var deadline = ConnectionDeadline()
    /// How fast the client takes the response: for `write_timeout`, and while a limit is short.
    var timeoutPace: ClientPace
    var shortagePace: ClientPace

    /// The state of the request's body.
    private enum Upload {
        /// There is none, or its last byte was passed on.
        case complete
        /// The service does not read it yet.
        case arriving
        /// As `arriving`; the client waits for `100 Continue` before it sends the body.
        case awaitingContinue
        /// The service reads it.
        case delivering
        /// The service has paused it.
        case paused
        /// The service does not need its rest.
        case cancelled
    }

    init(
        _ stream: H2Stream, of connection: H2ServerConnection, index: Int,
        _ head: Result<RequestHead, WireError>, endsStream: Bool
    ) {
        self.stream = stream
        self.connection = connection
        self.index = index
        self.head = head
        clientHasEnded = endsStream
        timeoutPace = ClientPace(since: stream.queuedSince)
        shortagePace = timeoutPace
    }

    /// Its timer does not retain it.
    deinit { deadline.cancel() }

    /// Its exchange, if it runs a request.
    var exchange: Exchange? { runner.flatMap { $0.isRequest ? $0.exchange : nil } }

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
        var body: Bytes?
        if head.opensWebSocket {
            // What the client sends belongs to the tunnel, and waits until that exists.
            body = Bytes()
            // Only the end of a source carries trailers.
        } else if hasWholeBody(head) {
            upload = .complete
            body = takeStored()
            connection.session.didDiscard(body?.count ?? 0)
        } else {
            upload = head.expectsContinue ? .awaitingContinue : .arriving
        }
        let server = connection.server
        let runner = ExchangeRunner(
            head, body, server.makeExchange(for: head, from: connection.client), carrier: self,
            of: server)
        self.runner = runner
        runner.runService()
    }

    /// Whether all of the body arrived together with the head. An empty one without a stated length stays a
    /// stream, so that a backend sees its end where the client has put it: behind the head. Servers of gRPC
    /// depend on it.
    private func hasWholeBody(_ head: RequestHead) -> Bool {
        clientHasEnded && trailers.isEmpty && (!stored.isEmpty || head.framing != .chunked)
    }

    private func rejectHead(_ error: WireError, on connection: H2ServerConnection) {
        upload = clientHasEnded ? .complete : .cancelled
        discardStored()
        connection.server.losses.count(.malformed)
        let runner = ExchangeRunner(
            rejectingHead: stream.isHeadRequest, from: connection.client, carrier: self,
            of: connection.server)
        self.runner = runner
        runner.reportRefusal(.malformed(error))
        runner.reject(.malformed(error))
    }

    // MARK: The body of the request

    /// RFC 9110 10.1.1: the client sends the body when the service reads it.
    private func startDelivery(on connection: H2ServerConnection) {
        let mustContinue = upload == .awaitingContinue && receivedBytes == 0
        guard upload == .arriving || upload == .awaitingContinue else { return }
        if mustContinue { sendInterim(.continue, Fields()) }
        upload = .delivering
        isStarting = true
        if runner?.requestBody?.isTimedBySink ?? false {
            connection.session.growWindow(of: stream, to: Self.streamedWindow)
        }
        connection.server.loop.local.value(()).whenSettled { [self] _ in
            isStarting = false
            deliverStored()
        }
    }

    /// The window of a body that is passed on as it arrives, in bytes.
    ///
    /// 256 KiB: 20 MiB/s with a round trip of 12 ms.
    private static let streamedWindow = 256 * 1024

    private func deliverStored() {
        guard upload == .delivering, let connection else { return }
        if !stored.isEmpty {
            let bytes = takeStored()
            runner?.requestBody?.deliver(bytes.span)
            connection.session.didConsume(bytes.count, on: stream)
        }
        endDelivery()
        connection.outputChanged()
    }

    /// Ends the body if all of it was delivered.
    private func endDelivery() {
        guard upload == .delivering, clientHasEnded, stored.isEmpty, !isStarting else { return }
        upload = .complete
        updateDeadline()
        let trailers = trailers
        self.trailers = Fields()
        runner?.requestBodyEnded(trailers)
    }

    private func store(_ piece: Span<UInt8>) {
        stored.append(piece)
        connection?.storedBytes += piece.count
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

    // MARK: Time limit of the body

    private func updateDeadline() {
        guard let server = connection?.server else { return }
        let isWaiting =
            upload == .delivering && !clientHasEnded
            && !(runner?.requestBody?.isTimedBySink ?? false)
        let now = server.loop.now
        deadline.update(isWaiting ? .body : nil, server.timeouts, progress, now: now)
        armTimer(server, now)
    }

    private var progress: ConnectionDeadline.Progress {
        ConnectionDeadline.Progress(received: receivedBytes)
    }

    private func armTimer(_ server: Server, _ now: Instant) {
        guard let due = deadline.timerNeeded else { return }
        deadline.timer?.cancel()
        // Not weak, as in `ServerConnection.armTimer`.
        deadline.timer = server.loop.timer(after: due - now) { [unowned self] in timerFired() }
    }

    private func timerFired() {
        guard let connection else { return }
        let server = connection.server
        let now = server.loop.now
        if deadline.hasPassed(server.timeouts, progress, now: now) {
            connection.session.chargeReset(at: now)
            hasResponded ? reset(.cancel) : reject(.tooSlow)
            connection.outputChanged()
        }
        armTimer(server, now)
    }

    // MARK: Memory

    /// Whether it stores a part of a body that the service has paused.
    var holdsBody: Bool { upload == .paused && !stored.isEmpty }

    /// Ends the request because the memory is used up; its client may repeat it.
    func shed() {
        guard let connection else { return }
        connection.server.losses.count(.bufferedBytes)
        guard hasResponded else {
            reject(.overloaded(.bufferedBytes))
            return connection.outputChanged()
        }
        if bodyWriter != nil { runner?.exchange.streamEnd = .memoryLimit }
        upload = .cancelled
        discardStored()
        breakBody(UnsentBytesExceeded())
    }

    // MARK: Responses

    /// Cancels the running exchange and sends a rejection.
    private func reject(_ rejection: Rejection) {
        guard let runner, let connection else { return }
        if let refusal = rejection.refusal { connection.server.losses.count(refusal) }
        upload = .cancelled
        discardStored()
        updateDeadline()
        runner.cancel(rejection)
        let rejecting = ExchangeRunner(rejecting: runner, carrier: self)
        self.runner = rejecting
        rejecting.reject(rejection)
    }

    private func send(_ response: Response, of runner: ExchangeRunner, _ server: Server) {
        let answersHead = runner.request.head.isHead
        let isEmpty = answersHead || response.status.forbidsBody
        switch response.body {
        case .bytes, .described:
            sendWhole(response, of: runner, server, isEmpty: isEmpty)
        case .stream(let source) where isEmpty:
            source.cancel()
            sendWhole(response.describing(source.framing), of: runner, server, isEmpty: true)
        case .stream(let source): beginBody(response, from: source, of: runner, server)
        case .tunnel(let tunnel): beginTunnel(response, tunnel, of: runner, server)
        }
    }

    private func sendWhole(
        _ response: Response, of runner: ExchangeRunner, _ server: Server, isEmpty: Bool
    ) {
        let body = response.completeBody
        let endsStream = isEmpty || body.isEmpty
        writeHead(
            response,
            length: response.statedLength(toHead: runner.request.head.isHead),
            of: runner, server, endsStream: endsStream)
        if !endsStream { connection?.session.sendBody(body, on: stream, at: server.loop.now) }
        responseHandedOver()
    }

    /// The whole response lies in the session.
    private func responseHandedOver() {
        runner?.responseHandedOver(unsent: stream.queuedBytes)
        guard stream.queuedBytes > Server.unsentBytesWithoutPermit else { return }
        stream.lowMark = Server.unsentBytesWithoutPermit
    }

    private func beginBody(
        _ response: Response, from source: any BodySource, of runner: ExchangeRunner,
        _ server: Server
    ) {
        let framing = source.framing.ofResponse(to: .http2)
        let writer = BodyWriter(source, framing, to: self)
        bodyWriter = writer
        var length: Int?
        if case .length(let stated) = framing { length = stated }
        writeHead(response, length: length, of: runner, server, endsStream: false)
        runner.responseHeadSent()
        writer.start()
    }

    /// RFC 8441 5: from now on DATA carries the bytes of the tunnel.
    private func beginTunnel(
        _ response: Response, _ tunnel: any Tunnel, of runner: ExchangeRunner, _ server: Server
    ) {
        let writer = BodyWriter(tunnel, .untilClose, to: self)
        bodyWriter = writer
        writeHead(response, length: nil, of: runner, server, endsStream: false)
        runner.responseHeadSent()
        writer.start()
        runner.startUpload()
    }

    private func writeHead(
        _ response: Response, length: Int?, of runner: ExchangeRunner, _ server: Server,
        endsStream: Bool
    ) {
        guard let session = connection?.session else { return }
        unsafe server.h2Writer.writeHead(
            response, length: length, of: runner.exchange, unixTime: server.loop.unixTime,
            endsStream: endsStream, to: stream, of: session)
    }

    // MARK: End

    /// Ends the stream early; `streamClosed` follows.
    func reset(_ code: H2Code) {
        connection?.session.reset(stream, code)
    }

    /// The client is gone, or its response cannot be completed.
    ///
    /// - Parameter status: for the log, if no response was begun
    func abandon(status: UInt16) {
        guard let connection else { return }
        let (ended, writer) = (runner, bodyWriter)
        removeFromConnection()
        guard writer != nil || stream.sentBytes > 0 else {
            ended?.cancel(status: status)
            return
        }
        ended?.exchange.streamEnded(
            connection.server.isClosed ? .cutOff : .clientDisconnected)
        writer?.cancel()
        ended?.endExchange(bodyBytes: stream.sentBytes, isTruncated: true)
    }

    private func removeFromConnection() {
        discardStored()
        deadline.cancel()
        runner = nil
        bodyWriter = nil
        stream.handler = nil
        connection.take()?.remove(self)
    }
}

extension H2ServerStream: ExchangeCarrier {
    var now: Instant { connection?.server.loop.now ?? stream.queuedSince }

    func clientWait(now: Instant) -> ClientWait? {
        guard let server = connection?.server else { return nil }
        if hasResponded {
            return blockedSince(now, server).map { ClientWait(since: $0, holdsBytes: true) }
        }
        // What is stored has arrived, and waits for its reader.
        guard upload == .delivering, !clientHasEnded, stored.isEmpty else { return nil }
        return runner?.requestBody?.awaitedSince(
            rate: server.settings.limits.bodyBytesPerSecond, now: now
        ).map { ClientWait(since: $0, holdsBytes: false) }
    }

    func endWaiting() {
        guard let connection else { return }
        let (session, now) = (connection.session, connection.server.loop.now)
        if hasResponded {
            runner?.exchange.streamEnded(.clientTooSlow)
            abandon(status: ServerHooks.ExchangeEnd.clientGone)
            session.resetAndCharge(stream, .enhanceYourCalm, at: now)
            connection.updateBudget()
        } else {
            session.chargeReset(at: now)
            reject(.overloaded(nil))
        }
        connection.outputChanged()
    }

    func responseReady(closesConnection: Bool) {
        guard !hasResponded, let connection, let runner, let response = runner.response else {
            return
        }
        hasResponded = true
        connection.announceDrainIfNeeded()
        send(response, of: runner, connection.server)
        connection.outputChanged()
    }

    func bodyDemandChanged(to demand: BodyDemand) {
        guard let connection else { return }
        switch demand {
        case .started: startDelivery(on: connection)
        case .paused:
            if upload == .delivering { upload = .paused }
        case .resumed:
            guard upload == .paused else { return }
            upload = .delivering
            if !isStarting { deliverStored() }
        case .cancelled:
            guard upload != .complete else { return }
            upload = .cancelled
            discardStored()
        }
        updateDeadline()
        connection.outputChanged()
    }

    func sendInterim(_ status: Status, _ fields: Fields) {
        // RFC 9113 8.6: HTTP/2 has no 101.
        guard let connection, !hasResponded, status.code != 101 else { return }
        unsafe connection.server.h2Writer.writeInterim(
            status, fields, to: stream, of: connection.session)
        connection.outputChanged()
    }
}

extension H2ServerStream: H2StreamEvents {
    func dataReceived(_ piece: Span<UInt8>) {
        guard let session = connection?.session else { return }
        receivedBytes += piece.count
        switch upload {
        case .delivering where stored.isEmpty && !isStarting:
            runner?.requestBody?.deliver(piece)
            session.didConsume(piece.count, on: stream)
        case .arriving, .awaitingContinue, .delivering, .paused: store(piece)
        case .complete, .cancelled: session.didDiscard(piece.count)
        }
    }

    func bodyEnded(trailers: Fields) {
        clientHasEnded = true
        self.trailers = trailers
        updateDeadline()
        endDelivery()
    }

    func outputDrained() {
        bodyWriter?.outputDrained()
    }

    func outputLow() { responseHandedOver() }

    func outputEnded() {
        guard connection != nil else { return }
        let ended = runner
        let session = connection?.session
        removeFromConnection()
        ended?.endExchange(bodyBytes: stream.sentBytes)
        // RFC 9113 8.1: the client need not send the rest of its request.
        session?.reset(stream, .noError)
    }

    func streamClosed(_ code: H2Code, isReset: Bool) {
        abandon(status: stream.isMalformed ? 400 : ServerHooks.ExchangeEnd.clientGone)
    }
}

extension H2ServerStream: BodyTarget {
    /// While the connection is blocked, its bytes count: the frames of the stream wait behind them.
    var pendingBytes: Int { stream.queuedBytes + (connection?.stream.blockedBytes ?? 0) }

    func writeBody(_ piece: Span<UInt8>) -> Int {
        guard let connection else { return 0 }
        connection.session.sendPiece(piece, on: stream, at: connection.server.loop.now)
        connection.bodyQueued()
        return stream.queuedBytes
    }

    func endBody(trailers: Fields) {
        guard let connection else { return }
        // RFC 9110 6.5.1: only to a client that accepts them.
        let sendsTrailers =
            !trailers.isEmpty && runner?.request.head.fields.acceptsTrailers ?? false
        connection.session.endBody(
            of: stream, trailers: sendsTrailers ? trailers : Fields())
        responseHandedOver()
        connection.outputChanged()
    }

    /// RFC 8441 5: CANCEL is the reset of a tunnel's connection.
    func breakBody(_ error: any Error) {
        reset(runner?.isTunnel ?? false ? .cancel : .internalError)
        connection?.outputChanged()
    }
}
