import Basics
import HTTP
import HTTP2
import Reactor

/// The response of a stream, its rejections and its early end.
extension H2ServerStream: ExchangeCarrier {
    var now: Instant { connection?.server.loop.now ?? stream.queuedSince }

    func bodyDemandChanged(to demand: BodyDemand) {
        handle(.bodyDemandChanged(demand))
        connection?.outputChanged()
    }

    func responseReady(closesConnection: Bool) {
        guard let runner, let response = runner.response else { return }
        handle(.responseReady(response.form(to: runner.request.head)))
        connection?.outputChanged()
    }

    func sendInterim(_ status: Status, _ fields: Fields) {
        guard let connection, machine.allowsInterim(status) else { return }
        connection.server.h2Writer.writeInterim(
            status, fields, to: stream, of: connection.session)
        connection.outputChanged()
    }

    func clientWait(now: Instant) -> ClientWait? {
        guard let server = connection?.server else { return nil }
        switch machine.awaitedFromClient {
        case .response:
            return blockedSince(now, server).map { ClientWait(since: $0, holdsBytes: true) }
        case .body:
            return runner?.requestBody?.awaitedSince(
                rate: server.settings.limits.bodyBytesPerSecond, now: now
            ).map { ClientWait(since: $0, holdsBytes: false) }
        case nil: return nil
        }
    }

    func endWaiting() {
        guard let connection else { return }
        handle(.waitingEnded)
        connection.outputChanged()
    }

    // MARK: Responses

    /// Writes the response: all of it, or its head if the body is streamed.
    func sendResponse(on connection: H2ServerConnection) {
        guard let runner, let response = runner.response else { return }
        connection.announceDrainIfNeeded()
        switch response.body {
        case .bytes, .described: sendWhole(response, of: runner, on: connection)
        case .stream(let source) where machine.response == .complete:
            source.cancel()
            sendWhole(response.describing(source.framing), of: runner, on: connection)
        case .stream(let source):
            let framing = source.framing.ofResponse(to: .http2)
            sendHead(of: response, from: source, framing, of: runner, on: connection)
        case .tunnel(let tunnel):
            sendHead(of: response, from: tunnel, .untilClose, of: runner, on: connection)
            runner.startUpload()
        }
    }

    private func sendWhole(
        _ response: Response, of runner: ExchangeRunner, on connection: H2ServerConnection
    ) {
        let head = runner.request.head
        let body = response.completeBody
        let endsStream = response.hasNoContent(to: head) || body.isEmpty
        writeHead(
            response, length: response.statedLength(toHead: head.isHead), of: runner,
            on: connection, endsStream: endsStream)
        if !endsStream { connection.session.sendBody(body, on: stream, at: now) }
        responseHandedOver()
    }

    /// The body follows piece by piece.
    private func sendHead(
        of response: Response, from source: any BodySource, _ framing: BodyFraming,
        of runner: ExchangeRunner, on connection: H2ServerConnection
    ) {
        assert(bodyWriter == nil, "a stream has two bodies")
        let writer = BodyWriter(source, framing, to: self)
        bodyWriter = writer
        var length: Int?
        if case .length(let stated) = framing { length = stated }
        writeHead(response, length: length, of: runner, on: connection, endsStream: false)
        runner.responseHeadSent()
        writer.start()
    }

    private func writeHead(
        _ response: Response, length: Int?, of runner: ExchangeRunner,
        on connection: H2ServerConnection, endsStream: Bool
    ) {
        let server = connection.server
        server.h2Writer.writeHead(
            response, length: length, of: runner.exchange, unixTime: server.loop.unixTime,
            endsStream: endsStream, to: stream, of: connection.session)
    }

    /// The whole response lies in the session.
    func responseHandedOver() {
        runner?.responseHandedOver(unsent: stream.queuedBytes)
        guard stream.queuedBytes > ServerContext.unsentBytesWithoutPermit else { return }
        stream.lowMark = ServerContext.unsentBytesWithoutPermit
    }

    // MARK: Rejections

    func rejectHead(_ error: WireError, on connection: H2ServerConnection) {
        handle(.headRejected)
        connection.server.losses.count(.malformed)
        let runner = ExchangeRunner(
            rejectingHead: stream.isHeadRequest, from: connection.client, carrier: self,
            of: connection.server)
        self.runner = runner
        runner.reportRefusal(.malformed(error))
        runner.reject(.malformed(error))
    }

    /// Cancels the running exchange and sends a rejection.
    func reject(_ rejection: Rejection, on connection: H2ServerConnection) {
        guard let runner else { return }
        if let refusal = rejection.refusal { connection.server.losses.count(refusal) }
        runner.cancel(rejection)
        let rejecting = ExchangeRunner(rejecting: runner, carrier: self)
        self.runner = rejecting
        rejecting.reject(rejection)
    }

    // MARK: Early end

    func endSlowExchange(on connection: H2ServerConnection) {
        runner?.exchange.streamEnded(.clientTooSlow)
        abandon(status: ServerHooks.ExchangeEnd.clientGone)
        connection.session.resetAndCharge(
            stream, .enhanceYourCalm, at: connection.server.loop.now)
        connection.updateBudget()
    }

    func cutOffResponse(on connection: H2ServerConnection) {
        let writer = bodyWriter
        let runner = takeRunner()
        runner?.exchange.streamEnded(
            connection.table.isClosed ? .cutOff : .clientDisconnected)
        writer?.cancel()
        runner?.endExchange(bodyBytes: stream.sentBytes, isTruncated: true)
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

    func breakBody(_ error: any Error) {
        handle(.responseBroken)
        connection?.outputChanged()
    }
}

extension Response {
    /// How HTTP/2 sends it.
    fileprivate func form(to head: RequestHead) -> H2StreamMachine.ResponseForm {
        switch body {
        case .bytes, .described: .complete
        case .stream: hasNoContent(to: head) ? .complete : .streamed
        case .tunnel: .tunnel
        }
    }

    /// RFC 9110 6.4.1: whether the response has no content, whatever its body.
    fileprivate func hasNoContent(to head: RequestHead) -> Bool {
        head.isHead || status.forbidsBody
    }
}
