import Basics
import HTTP
import Promises
import Reactor

/// The exchange of a connection: its beginning, its response, and its end.
extension ServerConnection: ExchangeCarrier, BodyTarget {
    /// A request has arrived, with its body if that is complete.
    func beginExchange(_ head: RequestHead, _ body: Bytes?) {
        assert(
            runner == nil && bodyWriter == nil && unsentExchange == nil,
            "a request begins before the end of the former one")
        let exchange = server.makeExchange(for: head, from: client)
        pace.countRequest(at: exchange.began)
        runner = ExchangeRunner(head, body, exchange, carrier: self, of: server)
        counts.discarded = 0
        handle(.requestBegan(facts(of: head, isWhole: body != nil)))
    }

    private func facts(of head: RequestHead, isWhole: Bool) -> ServerStateMachine.Facts {
        var facts = ServerStateMachine.Facts(keepsAlive: head.keepsAlive)
        guard !isWhole else { return facts }
        facts.body = head.expectsContinue ? .awaitingContinue : .arriving
        if case .length(let length) = head.framing {
            facts.bodyMayBeDiscarded = length <= server.settings.discardedBytes
        }
        return facts
    }

    // MARK: Events of the exchange

    func responseReady(closesConnection: Bool) {
        handle(
            .responseReady(closesConnection: closesConnection || table.isDraining || endsAtClose))
    }

    /// Whether only the end of the connection marks the end of the response (RFC 9112 6.3).
    private var endsAtClose: Bool {
        guard let runner, let source = runner.responseSource else { return false }
        return source.framing.ofResponse(to: runner.request.head.version) == .untilClose
    }

    func bodyDemandChanged(to demand: BodyDemand) {
        guard case .started = demand, !isHandling else {
            return handle(.bodyDemandChanged(demand))
        }
        // Bytes that have arrived must not be delivered before this returns.
        let starting = runner
        server.loop.local.value(()).whenSettled { [self] _ in
            // The exchange may have ended meanwhile, or its body may not be needed any more.
            guard runner === starting, starting?.requestBody?.isBeingRead ?? false else { return }
            handle(.bodyDemandChanged(demand))
        }
    }

    func sendInterim(_ status: Status, _ fields: Fields) {
        guard !isClosed else { return }
        server.writer.writeInterim(
            status, fields, bytesSent: takeVersionBytesSent(), to: stream)
    }

    // MARK: Responses

    /// Writes the response: all of it, or its head if the body is streamed. Returns the resulting
    /// event.
    func sendResponse(keepsAlive: Bool) -> ServerStateMachine.Event? {
        guard let runner, let response = runner.takeResponse() else { return nil }
        let unixTime = server.loop.unixTime
        let context = ResponseWriter.Context(
            runner.exchange.id, runner.exchange.responseFields, to: runner.request.head,
            keepsAlive: keepsAlive, unixTime: unixTime, bytesSent: takeVersionBytesSent())
        switch response.body {
        case .stream(let source): return send(response, from: source, context)
        case .tunnel(let tunnel):
            bodyWriter = BodyWriter(tunnel, .untilClose, to: self)
            server.writer.writeUpgrade(response, tunnel.protocolName, context, to: stream)
            runner.responseHeadSent()
            return .tunnelHeadSent
        case .bytes, .described: break
        }
        return completeResponse(
            bodyBytes: server.writer.write(response, context, to: stream))
    }

    private func send(
        _ response: Response, from source: any BodySource,
        _ context: ResponseWriter.Context
    ) -> ServerStateMachine.Event? {
        guard !context.answersHead, !response.status.forbidsBody else {
            source.cancel()
            let described = response.describing(source.framing)
            return completeResponse(
                bodyBytes: server.writer.write(described, context, to: stream))
        }
        let framing = source.framing.ofResponse(to: context.version)
        bodyWriter = BodyWriter(source, framing, to: self)
        server.writer.writeHead(response, framing, context, to: stream)
        runner?.responseHeadSent()
        return .responseHeadSent
    }

    /// The response is written: ends the exchange.
    private func completeResponse(bodyBytes: Int) -> ServerStateMachine.Event {
        assert(runner != nil && bodyWriter == nil, "a response ends twice")
        let ended = runner.take()
        let unsent = stream.unsentBytes
        if unsent == 0 {
            ended?.endExchange(bodyBytes: bodyBytes)
        } else if let ended {
            ended.responseHandedOver(unsent: unsent)
            ended.releaseResponseMemory()
            assert(unsentExchange == nil, "two responses wait for the client")
            unsentExchange = UnsentExchange(runner: ended, bodyBytes: bodyBytes)
        }
        updateBudget(unsent: unsent)
        return .responseEnded(waitsForClient: unsent > 0)
    }

    /// An exchange whose response is written, and not sent to its end.
    struct UnsentExchange {
        let runner: ExchangeRunner
        /// Bytes of the body that were written.
        let bodyBytes: Int
    }

    /// The client has taken all output, or the connection ends.
    ///
    /// - Parameter unsent: bytes that the client does not get
    func endUnsentExchange(dropping unsent: Int) {
        guard let ended = unsentExchange.take() else { return }
        guard unsent > 0 else { return ended.runner.endExchange(bodyBytes: ended.bodyBytes) }
        recordEnd(of: ended.runner)
        ended.runner.endExchange(bodyBytes: max(0, ended.bodyBytes - unsent), isTruncated: true)
    }

    /// The client does not get all of a response.
    private func recordEnd(of runner: ExchangeRunner?) {
        runner?.exchange.streamEnded(table.isClosed ? .cutOff : .clientDisconnected)
    }

    // MARK: Streamed bodies

    // Not `stream.pendingBytes`, with which each request retains the stream: 0.8 % more instructions.
    var pendingBytes: Int { stream.unsentBytes &+ stream.unacknowledgedBytes }

    /// Writes a piece of a streamed body; returns the number of unsent bytes.
    func writeBody(_ piece: Span<UInt8>) -> Int {
        assert(bodyWriter != nil && !isClosed, "a piece after the end of its response")
        if bodyWriter?.framing == .chunked {
            server.writer.writeChunk(piece, to: stream)
        } else {
            stream.write(piece)
        }
        counts.pieces &+= piece.count
        let unsent = stream.unsentBytes
        updateBudget(unsent: unsent)
        if unsent > 0 { handle(.outputBlocked) }
        return unsent
    }

    /// The last piece of a streamed body is written.
    func endBody(trailers: Fields) {
        guard let bodyWriter else { return }
        if bodyWriter.framing == .chunked {
            // RFC 9110 6.5.1: only to a client that accepts them.
            let sendsTrailers =
                !trailers.isEmpty && runner?.request.head.fields.acceptsTrailers ?? false
            server.writer.writeLastChunk(sendsTrailers ? trailers : Fields(), to: stream)
        }
        self.bodyWriter = nil
        handle(completeResponse(bodyBytes: bodyWriter.bytes))
    }

    func breakBody(_ error: any Error) { handle(.responseBroken) }

    /// Whether the end of the connection marks the end of the response that is being streamed. The end
    /// of a tunnel does not: its bytes have a framing of their own.
    var bodyEndsAtClose: Bool {
        guard let bodyWriter, let runner, !runner.isTunnel else { return false }
        return bodyWriter.framing == .untilClose
    }

    // MARK: Rejections

    /// Cancels the running exchange, if there is one, and sends a rejection.
    func reject(_ rejection: Rejection) {
        if let refusal = rejection.refusal { server.losses.count(refusal) }
        let rejecting: ExchangeRunner
        if let runner {
            runner.cancel(rejection)
            rejecting = ExchangeRunner(rejecting: runner, carrier: self)
        } else {
            rejecting = ExchangeRunner(
                rejectingHead: reader.isHeadRequest || rejection.mayBeHead, from: client,
                carrier: self, of: server)
            rejecting.reportRefusal(rejection)
        }
        runner = rejecting
        rejecting.reject(rejection)
    }

    /// The client is gone, or its response cannot be completed.
    func abandonExchange() {
        let ended = runner
        runner = nil
        if let bodyWriter {
            self.bodyWriter = nil
            recordEnd(of: ended)
            let unsent = stream.unsentBytes
            bodyWriter.cancel()
            ended?.endExchange(bodyBytes: max(0, bodyWriter.bytes - unsent), isTruncated: true)
        } else {
            ended?.cancel(
                status: table.isClosed
                    ? ServerHooks.ExchangeEnd.cutOff : ServerHooks.ExchangeEnd.clientGone)
        }
    }
}

extension Response {
    /// A copy without the body, whose length is stated if it is known.
    func describing(_ framing: BodyFraming) -> Response {
        let length: Int? =
            switch framing {
            case .none: 0
            case .length(let length): length
            case .chunked, .untilClose: nil
            }
        var described = self
        described.body = .described(length: length)
        return described
    }
}
