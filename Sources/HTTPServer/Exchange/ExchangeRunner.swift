import Basics
import HTTP
import Promises
import Reactor

/// Runs one exchange, from the head of its request to the last byte of its response: reserves its
/// memory, calls the service, takes its permit when the body is complete, then responds, rejects or cancels.
///
/// The exchange ends when the last byte of its response is written: the runner then reports the
/// end to the hooks. It returns the permit earlier, when the whole response lies in the connection and
/// little of it waits for the client. Independent of the protocol: a connection of HTTP/1.1 has one
/// runner at a time. Its carrier, the connection, owns it; confined to the loop's thread.
final class ExchangeRunner {
    let request: Request
    let exchange: Exchange
    /// The body of the request while it arrives; nil if it arrived together with the head.
    /// After an upgrade, what the client sends.
    private(set) var requestBody: RequestBodySource?
    /// The response to write, set before the call of `responseReady`; a complete one is not kept.
    private(set) var response: Response?
    /// The status of the response; nil until there is one.
    private var status: Status?

    private let server: ServerContext
    /// Nil after the end.
    private var carrier: (any ExchangeCarrier)?
    private let kind: Kind
    /// Of the promise of the service, or of the chain that a rejection passes.
    private var observation: LocalObservation?
    private var hasPermit = false
    /// What is left of the exchange needs no permit.
    private var needsNoPermit = false
    /// Whether it counts as a streamed response.
    private var isStreaming = false
    private var isRejected = false
    private var isOver = false

    private enum Kind {
        /// A request, which is counted and logged.
        case request
        /// The response to input that is not a request, or to a cancelled request.
        case rejection
    }

    /// The exchange of a request.
    ///
    /// - Parameters:
    ///   - body: nil if it has not arrived yet
    ///   - exchange: from `ServerContext.makeExchange`
    init(
        _ head: RequestHead, _ body: Bytes?, _ exchange: Exchange, carrier: any ExchangeCarrier,
        of server: ServerContext
    ) {
        self.exchange = exchange
        if let body {
            requestBody = nil
            request = Request(head: head, body: .bytes(body))
        } else {
            let source = RequestBodySource(head.framing, of: exchange, carrier: carrier)
            requestBody = source
            request = Request(head: head, body: .stream(source))
        }
        self.carrier = carrier
        self.server = server
        kind = .request
        exchange.interim = self
    }

    /// The exchange of a rejection of input that is not a request.
    ///
    /// - Parameter isHead: the input begins like a HEAD request, whose response has no body
    init(
        rejectingHead isHead: Bool, from client: PeerAddress, carrier: any ExchangeCarrier,
        of server: ServerContext
    ) {
        // A placeholder for the request, so that the rejection can pass a chain.
        let head = RequestHead(method: isHead ? .head : .get, target: .root)
        exchange = server.makeExchange(for: head, from: client)
        request = Request(head: head, body: .empty)
        requestBody = nil
        self.carrier = carrier
        self.server = server
        kind = .rejection
    }

    /// The exchange of a rejection of a cancelled request.
    init(rejecting former: ExchangeRunner, carrier: any ExchangeCarrier) {
        request = former.request
        exchange = former.exchange
        requestBody = nil
        self.carrier = carrier
        server = former.server
        kind = .rejection
    }

    /// Whether interim responses may be sent to the client (RFC 9110 15.2).
    var takesInterimResponses: Bool { kind == .request && request.head.version >= .http11 }

    /// Takes the response out of the runner to avoid retaining its parts, unless the body needs it
    /// later.
    func takeResponse() -> Response? {
        switch response?.body {
        case .stream, .tunnel: response
        case .bytes, .described, nil: response.take()
        }
    }

    /// The source of a streamed body of the response.
    var responseSource: (any BodySource)? {
        if case .stream(let source)? = response?.body { source } else { nil }
    }

    /// Reports the rejection of input that is not a request.
    func reportRefusal(_ rejection: Rejection) {
        server.hooks.requestRefused(
            .init(
                status: rejection.status, reason: rejection.reason, id: exchange.id,
                peer: exchange.peer))
    }

    /// Whether it runs a request, and not just a rejection.
    var isRequest: Bool { kind == .request }

    /// Whether it counts for what it holds, and for nothing after its end. For assertions.
    private var isConsistent: Bool {
        if hasPermit, isStreaming || needsNoPermit || server.requestsInFlight < 1 { return false }
        if isStreaming, needsNoPermit || server.streams < 1 { return false }
        return !isOver || !hasPermit && !isStreaming && carrier == nil && exchange.interim == nil
    }

    // MARK: Begin

    /// Passes the request to the service, or rejects it if a limit is reached.
    func runService() {
        if request.head.hasUnknownExpectation {
            server.losses.count(.malformed)
            return reject(.malformed(.expectation), closesConnection: true)
        }
        if let refusal = server.refusal(of: exchange) { return shed(refusal) }
        let hasMemory = exchange.reserve(request.memoryBytes)
        // To reclaim memory, the server may have closed this connection.
        if isOver { return }
        guard hasMemory else { return shed(.bufferedBytes) }
        // A complete request is in flight before the service runs.
        if requestBody == nil { takePermit() }
        let promise = server.service(request, exchange)
        // If the service does not wait for the body, or passes it on, the request is in flight from now
        // on.
        if let requestBody, !requestBody.isBeingRead || requestBody.isTimedBySink { takePermit() }
        observation = promise.observe { [self] result in handleResult(result) }
        // The call of the service may have ended the exchange before there was an observation to cancel.
        if isOver { observation?.cancel() }
    }

    // MARK: The body of the request

    /// The last byte of the body arrived.
    ///
    /// - Parameter trailers: those behind it; nil if the source of the body received them
    func requestBodyEnded(_ trailers: Fields? = nil) {
        exchange.requestReceived = server.loop.now
        guard let requestBody, requestBody.isBeingRead else { return }
        // Behind the head of its response a request counts as a stream.
        guard !isStreaming, !needsNoPermit else { return requestBody.deliverEnd(trailers) }
        // The request is in flight from now on and not earlier, so that a slow upload takes no
        // permit. Beyond the limit the body fails, and the endpoint's chain responds with the 503,
        // so that it is padded.
        if !hasPermit, let refusal = server.refusal(of: exchange) {
            server.losses.count(refusal)
            exchange.rejection = refusal.name
            return requestBody.fail(RequestLimitReached())
        }
        takePermit()
        requestBody.deliverEnd(trailers)
    }

    /// The rest of the body cannot be read. The service responds with the rejection, and minimum
    /// durations count from now.
    func requestBodyFailed(_ error: WireError) {
        exchange.requestReceived = server.loop.now
        exchange.rejection = error.name
        server.losses.count(.malformed)
        takePermit()
        requestBody?.fail(error)
    }

    // MARK: The response

    private func handleResult(_ result: consuming Result<Response, any Error>) {
        // The exchange was cancelled or rejected before the service had a response.
        guard !isOver, !isRejected else { return result.cancelStream() }
        switch consume result {
        case .success(let response):
            // Every 2xx would open the tunnel (RFC 9110 9.3.6).
            if request.head.opensWebSocket, response.opensTunnelWithoutOne {
                response.body.source?.cancel()
                return reject(.failed)
            }
            switch response.body {
            case .bytes, .described: respond(with: response, closesConnection: false)
            case .stream(let source): stream(response, from: source)
            case .tunnel(let tunnel):
                guard request.mayBecomeTunnel(with: response.status) else {
                    tunnel.cancel()
                    return reject(.failed)
                }
                stream(response, from: tunnel)
            }
        case .failure(let error as WireError): reject(.malformed(error))
        case .failure(is RequestLimitReached): reject(.overloaded(.requestsInFlight))
        // The connection is closed: the rest of the body stays unread.
        case .failure(is BufferedBytesExceeded): shed(.bufferedBytes, closesConnection: true)
        // A service that fails without a response is an internal error.
        case .failure: reject(.failed)
        }
    }

    /// Responds with a streamed body, unless too many are being sent.
    private func stream(_ response: consuming Response, from source: any BodySource) {
        guard source.worksForRequest || server.hasRoomForStream() else {
            source.cancel()
            return shed(.streams)
        }
        respond(with: response, closesConnection: false)
    }

    /// The head of a streamed response is sent: from now on the request counts as a stream, and no
    /// longer as a request in flight, unless it still works for the body.
    func responseHeadSent() {
        guard !isOver, responseSource?.worksForRequest != true else { return }
        assert(status != nil && !isStreaming, "a head is sent twice, or without a response")
        returnPermit()
        isStreaming = true
        exchange.stream = .response
        server.streams += 1
        assert(isConsistent, "a streamed response counts twice")
    }

    /// Whether the connection has switched to another protocol.
    private(set) var isTunnel = false

    /// Passes what the client sends to the tunnel of the response, whose head is sent.
    func startUpload() {
        guard let carrier, case .tunnel(let tunnel)? = response?.body else { return }
        assert(isStreaming && !isTunnel && requestBody == nil, "a tunnel begins twice")
        isTunnel = true
        exchange.stream = .tunnel
        let upload = RequestBodySource(.untilClose, of: exchange, carrier: carrier)
        requestBody = upload
        tunnel.send(from: upload)
    }

    /// Rejects the request because a limit is reached, and counts it.
    private func shed(_ refusal: ServerLosses.Refusal, closesConnection: Bool = false) {
        server.losses.count(refusal)
        reject(.overloaded(refusal), closesConnection: closesConnection)
    }

    /// Responds instead of the service, whose work is cancelled. The response passes
    /// `hooks.rejection`.
    func reject(_ rejection: Rejection, closesConnection: Bool = false) {
        guard !isOver, !isRejected else { return }
        isRejected = true
        recordReason(rejection)
        observation?.cancel()
        // After the cancellation, so that the reader of the body has withdrawn from it.
        requestBody?.detach()
        let response = rejection.response(exchange.id, server.settings)
        guard let pass = server.hooks.rejection else {
            return respond(with: response, closesConnection: closesConnection)
        }
        observation = pass(response, request, exchange).observe { [self] result in
            guard !isOver else { return result.cancelStream() }
            // The client gets its rejection even if the chain fails.
            let passed = (try? result.get()) ?? response
            guard case .tunnel(let tunnel) = passed.body else {
                return respond(with: passed, closesConnection: closesConnection)
            }
            tunnel.cancel()
            respond(with: response, closesConnection: closesConnection)
        }
    }

    // MARK: Waiting for the client

    /// The whole response lies in the connection: from the limit on, the exchange needs no permit.
    ///
    /// - Parameter unsent: bytes of the response that wait for the client
    func responseHandedOver(unsent: Int) {
        assert(status != nil && unsent >= 0, "a response that does not exist is handed over")
        if unsent <= ServerContext.unsentBytesWithoutPermit { releasePermits() }
    }

    private func releasePermits() {
        needsNoPermit = true
        returnPermit()
        endStream()
        exchange.releasePermits()
        assert(isConsistent, "an exchange without a permit counts")
    }

    /// The connection counts the bytes of the response from now on.
    func releaseResponseMemory() {
        exchange.releaseMemory(keeping: request.memoryBytes)
    }

    /// The worst shortage of the limits that the exchange holds a part of, without its bytes.
    var shortage: Shortage {
        guard !isOver else { return .none }
        var worst = exchange.shortage
        if hasPermit { worst = max(worst, server.requestShortage(of: exchange)) }
        if isStreaming { worst = max(worst, server.streamShortage) }
        return worst
    }

    /// Identifies the client, as far as requests are counted by client.
    var client: ObjectIdentifier {
        exchange.peer.requests.map { ObjectIdentifier($0) } ?? ObjectIdentifier(exchange.peer)
    }

    func clientWait(_ now: Instant) -> ClientWait? {
        isRequest && !isTunnel ? carrier?.clientWait(now: now) : nil
    }

    /// Ends the exchange, which waits for its client while a limit is short.
    func endWaiting() {
        guard let carrier else { return }
        // Released at once, so that the next exchange is ended only if these permits are not enough.
        exchange.callPermit?.release()
        releasePermits()
        carrier.endWaiting()
    }

    private func respond(with response: consuming Response, closesConnection: Bool) {
        assert(status == nil && !isOver, "an exchange has two responses")
        status = response.status
        self.response = consume response
        carrier?.responseReady(closesConnection: closesConnection)
    }

    // MARK: End

    /// Ends the exchange after its response: the last byte was written, or the response was
    /// truncated.
    ///
    /// - Parameters:
    ///   - bodyBytes: the body bytes that were written
    ///   - isTruncated: the response is incomplete
    func endExchange(bodyBytes: Int, isTruncated: Bool = false) {
        assert(status != nil && bodyBytes >= 0, "a response ends that does not exist")
        guard let status else { return }
        finish(status: status.code, bodyBytes, isTruncated)
    }

    private func recordReason(_ rejection: Rejection) {
        // A limit that ended the body of the request is known better.
        if exchange.rejection == nil { exchange.rejection = rejection.reason }
    }

    /// Cancels the work for a request that gets a rejection.
    func cancel(_ rejection: Rejection) {
        recordReason(rejection)
        cancel(status: rejection.status.code)
    }

    /// Cancels the work for a request that gets a rejection or no response.
    ///
    /// - Parameter status: for the log
    func cancel(status: UInt16) {
        guard !isOver else { return }
        observation?.cancel()
        response?.body.source?.cancel()
        finish(status: status, 0, false)
    }

    private func finish(status: UInt16, _ bodyBytes: Int, _ isTruncated: Bool) {
        guard !isOver else { return }
        isOver = true
        returnPermit()
        endStream()
        exchange.interim = nil
        requestBody?.detach()
        carrier = nil
        assert(isConsistent, "an exchange counts after its end")
        if isRequest {
            server.hooks.exchangeEnded(
                ServerHooks.ExchangeEnd(
                    exchange: exchange, request: request.head, status: status,
                    bodyBytes: bodyBytes, isTruncated: isTruncated,
                    endedAt: server.loop.exactNow))
        }
        exchange.end()
    }

    // MARK: Permits

    private func takePermit() {
        // Behind the head of its response a request counts as a stream.
        guard !isOver, !isRejected, !hasPermit, !needsNoPermit, !isStreaming else { return }
        hasPermit = true
        server.requestsInFlight += 1
        exchange.countRequest()
        assert(isConsistent, "a request counts twice")
    }

    private func returnPermit() {
        guard hasPermit else { return }
        assert(server.requestsInFlight > 0, "a request that counts is not counted")
        hasPermit = false
        server.requestsInFlight -= 1
        exchange.uncountRequest()
    }

    /// It counts as a streamed response no longer.
    private func endStream() {
        guard isStreaming else { return }
        assert(server.streams > 0, "a stream that counts is not counted")
        isStreaming = false
        server.streams -= 1
    }
}

extension ExchangeRunner: InterimSink {
    func sendInterim(_ status: Status, _ fields: Fields) {
        guard takesInterimResponses, self.status == nil, !isOver, !isRejected else { return }
        carrier?.sendInterim(status, fields)
    }
}

extension Request {
    /// Whether a response with this status may leave the connection to another protocol (RFC 9110
    /// 7.8), or the stream (RFC 8441 4). Only of a request without a body.
    fileprivate func mayBecomeTunnel(with status: Status) -> Bool {
        guard case .bytes = body, head.framing == .none else { return false }
        return head.opensWebSocket
            ? status == .ok : head.version == .http11 && status.code == 101
    }

    /// The size of the request in memory at its beginning.
    fileprivate var memoryBytes: Int {
        let lines = head.fields.memoryBytes
        if case .bytes(let bytes) = body { return lines + bytes.count }
        return lines
    }
}

extension Response {
    /// Whether its status opens a tunnel, and its body is none.
    fileprivate var opensTunnelWithoutOne: Bool {
        guard (200..<300).contains(status.code) else { return false }
        if case .tunnel = body { return false }
        return true
    }
}

extension Result<Response, any Error> {
    /// Cancels the body of a response that is not sent.
    fileprivate func cancelStream() {
        if case .success(let response) = self { response.body.source?.cancel() }
    }
}
