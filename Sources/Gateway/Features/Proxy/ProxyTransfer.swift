import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// One request that is passed through, until the last byte of its response: its time limits, its
/// permit, and its outcome. Confined to its worker.
///
/// Its timer, its call and its pipes retain it. One timer serves all limits: it is set again only for
/// an earlier deadline, so that pieces of the bodies set no timer.
final class ProxyTransfer: ProxiedRequest {
    private let proxy: Proxy
    private let context: RequestContext
    /// Of a client that opens a WebSocket on a stream of HTTP/2.
    private let handshake: WebSocketHandshake?

    let body: Body
    let host: FieldValue?
    let expectsContinue: Bool
    let acceptsTrailers: Bool
    let upgrade: FieldValue?
    private(set) var hasStartedBody = false
    /// In the exchange, where a shortage of permits finds it.
    var permit: Permit? {
        get { context.callPermit }
        set { context.callPermit = newValue }
    }

    /// Whether a response that has arrived as a whole is sent as one. Over HTTP/2 it may wait for the
    /// client's window, and counts as a stream meanwhile.
    private let sendsComplete: Bool
    private let passesInterim: Bool

    private enum Phase {
        /// The body of the request is passed on.
        case receivingRequest
        /// The request is complete; the head of the response is awaited since this instant.
        case awaitingHead(since: Instant)
        /// The body of the response is passed on.
        case sendingResponse
        case ended
    }

    private var phase: Phase
    /// Both sides send when they want to.
    private var isTunnel = false
    /// Of a tunnel that is a WebSocket.
    private(set) var webSocket: WebSocketState?
    private var requestPipe: ProxyPipe?
    private var responsePipe: ProxyPipe?
    /// Wait for the outcome of the present attempt.
    private var outcomeHandlers: [() -> Void] = []
    private var call: LocalPromise<ClientResponse>?
    private var resolver: LocalResolver<Response>?
    private let began: Instant
    /// When a byte was transferred last.
    private var lastActivity: Instant
    private var timer: Timer?
    private var continueTimer: Timer?

    /// How long a client that expects `100 Continue` waits for the backend's decision.
    ///
    /// 1 s: RFC 9110 10.1.1 forbids to wait for ever, and common servers decide at once.
    private static let continueTimeout = Duration.seconds(1)

    /// - Parameter handshake: with the backend of a client that opens a WebSocket on a stream of
    ///   HTTP/2; nil for others
    init(
        of request: borrowing Request, _ context: consuming RequestContext,
        by proxy: consuming Proxy,
        _ handshake: WebSocketHandshake?, at now: Instant
    ) {
        let (head, proxyHead) = (request.head, proxy.head)
        host = proxyHead.host(head)
        upgrade = proxyHead.upgrade(request)
        acceptsTrailers = head.fields.acceptsTrailers
        sendsComplete = head.version < .http2
        passesInterim = proxy.plan.passesInterim(to: head.version)
        began = now
        lastActivity = now
        switch request.body {
        case .described, .tunnel:
            expectsContinue = false
            phase = .awaitingHead(since: now)
            body = .described(length: nil)
        case .bytes(let bytes):
            expectsContinue = false
            phase = .awaitingHead(since: now)
            body = bytes.isEmpty ? .described(length: nil) : .bytes(bytes)
            context.record.bodyBytes = bytes.count
        case .stream(let source):
            expectsContinue = head.expectsContinue
            phase = .receivingRequest
            let pipe = ProxyPipe(
                source, .request, bytesMax: proxy.plan.bodyMax, isHeld: expectsContinue)
            requestPipe = pipe
            body = .stream(pipe)
        }
        // Last, so that the references move.
        self.proxy = proxy
        self.context = context
        self.handshake = handshake
        requestPipe?.transfer = self
    }

    private var plan: ProxyPlan { proxy.plan }

    /// Whether exactly the parts of the phase exist. For assertions.
    private var isConsistent: Bool {
        switch phase {
        case .receivingRequest: requestPipe != nil && responsePipe == nil && !isTunnel
        case .awaitingHead: responsePipe == nil && !isTunnel
        case .sendingResponse: responsePipe != nil && call == nil && permit == nil
        case .ended:
            requestPipe == nil && responsePipe == nil && permit == nil && timer == nil
                && continueTimer == nil
        }
    }

    /// Whether bytes of a body may pass now. For assertions.
    func passes(_ pipe: ProxyPipe) -> Bool {
        switch phase {
        case .receivingRequest, .awaitingHead: pipe === requestPipe
        case .sendingResponse: isTunnel || pipe === requestPipe || pipe === responsePipe
        case .ended: isTunnel
        }
    }

    /// Not a property with the loop, whose reference would be counted.
    private var now: Instant { proxy.loop.now }

    // MARK: The call

    /// Starts the call; promises the response, whose body passes through a pipe unless all of it has
    /// arrived. Cancelling ends the transfer.
    func start(
        _ request: consuming ClientRequest, _ callContext: CallContext
    ) -> LocalPromise<Response> {
        let resolver = LocalResolver<Response>(on: context.local)
        let promise = resolver.promise
        resolver.onCancel(cancel: self)
        self.resolver = consume resolver
        armTimer()
        if requestPipe != nil, expectsContinue {
            continueTimer = proxy.loop.timer(after: Self.continueTimeout) { [self] in
                continueTimer = nil
                requestPipe?.release()
            }
        }
        let call = proxy.send(request, callContext, context)
        self.call = call
        assert(isConsistent, "a transfer begins in the wrong phase")
        call.whenSettled { [self] result in headReceived(result) }
        return promise
    }

    private func headReceived(_ result: Result<ClientResponse, any Error>) {
        call = nil
        continueTimer.take()?.cancel()
        guard let resolver = resolver.take() else { return }
        guard !resolver.isCancelled else {
            if case .success(let response) = result { response.body.source?.cancel() }
            return end()
        }
        do {
            let response = try accepted(result.get())
            if let permit = permit.take() { context.holdPermit(permit) }
            lastActivity = now
            resolver.fulfill(
                proxy.response(response, with: proxied(response.body), to: context))
        } catch {
            end()
            respond(to: requestError ?? error, consume resolver)
        }
    }

    /// The response for the client. Throws if it fails the handshake of an upgrade, which is the
    /// outcome of its attempt.
    private func accepted(_ response: ClientResponse) throws(CallFailure) -> ClientResponse {
        do throws(CallFailure) {
            if case .tunnel(let tunnel) = response.body,
                !response.fields.lists(tunnel.protocolName.bytes.span, in: .upgrade)
            {
                throw .connection(.refusedUpgrade)
            }
            return try handshake?.response(to: response) ?? response
        } catch {
            if let attempt = response.attempt {
                context.record.attemptRefused(
                    attempt, error.kind, detail: error.detail, at: now)
            }
            response.body.source?.cancel()
            throw error
        }
    }

    private func respond(to error: any Error, _ resolver: consuming LocalResolver<Response>) {
        do {
            resolver.fulfill(try proxy.response(to: error, context))
        } catch {
            resolver.reject(error)
        }
    }

    /// The body for the client, which passes through a pipe unless all of it has arrived.
    private func proxied(_ body: Body) -> Body {
        switch body {
        case .stream(let source):
            if sendsComplete, let complete = source.takeComplete() {
                end()
                return .bytes(complete)
            }
            return .stream(openResponsePipe(from: source))
        case .tunnel(let tunnel):
            isTunnel = true
            if tunnel.protocolName.bytes.span.equalsIgnoringCase("websocket") {
                webSocket = WebSocketState()
                context.endWebSocket = { [unowned self] in sendGoingAway() }
            }
            return .tunnel(ProxyTunnel(tunnel, openResponsePipe(from: tunnel), self))
        case .bytes, .described:
            end()
            return body
        }
    }

    private func openResponsePipe(from source: any BodySource) -> ProxyPipe {
        phase = .sendingResponse
        let pipe = ProxyPipe(source, .response)
        pipe.transfer = self
        responsePipe = pipe
        armTimer()
        assert(isConsistent, "the response begins in the wrong phase")
        return pipe
    }

    /// The process ends: sends a close frame in each direction where a frame may begin, and ends that
    /// direction. False if there is none.
    private func sendGoingAway() -> Bool {
        guard let webSocket, case .sendingResponse = phase else { return false }
        let (download, upload) = (responsePipe, webSocket.uploadPipe)
        let endsDownload = webSocket.download.isBetweenFrames && !webSocket.download.hasClosed
        let endsUpload = webSocket.upload.isBetweenFrames && !webSocket.upload.hasClosed
        guard endsDownload || endsUpload else { return false }
        context.streamEnded(.cutOff)
        if endsUpload {
            upload?.end(with: WebSocketFrames.goingAway(mask: proxy.loop.entropy.next()))
        }
        if endsDownload, let download {
            download.end(with: WebSocketFrames.goingAway())
            // The exchange has ended, but the backend may neither read nor close.
            proxy.loop.timer(after: WebSocketFrames.closeTime) { download.cancelSource() }
        }
        return true
    }

    // MARK: Interim responses

    /// RFC 9110 15.2: passed on to the clients that want them, except those that concern one connection only.
    func receiveInterim(_ head: ResponseHead) {
        if case .ended = phase { return }
        switch head.status.code {
        case 100: requestPipe?.release()
        case 101, 102: break
        default:
            guard passesInterim else { return }
            context.interim?.sendInterim(
                head.status, proxy.head.responseFields(head.fields, context))
        }
    }

    // MARK: Events of the bodies

    func recordActivity() { lastActivity = now }

    func requestStarted() {
        hasStartedBody = true
        recordActivity()
    }

    func requestEnded(_ bytes: Int) {
        context.record.bodyBytes = bytes
        context.requestReceived = now
        guard case .receivingRequest = phase else { return }
        phase = .awaitingHead(since: now)
        armTimer()
        assert(isConsistent, "the request ends in the wrong phase")
    }

    /// The trailers of the request that the backend gets.
    func requestTrailers(_ trailers: Fields) -> Fields {
        proxy.head.requestTrailers(trailers)
    }

    /// The trailers of the response that the client gets.
    func responseTrailers(_ trailers: Fields) -> Fields {
        proxy.head.responseTrailers(trailers, context)
    }

    /// The backend needs no more of the body.
    func requestStopped(_ bytes: Int) { context.record.bodyBytes = bytes }

    /// Why the body of the request could not be passed on.
    private var requestError: (any Error)?

    func requestFailed(_ bytes: Int, _ error: any Error) {
        context.record.bodyBytes = bytes
        requestError = error
        // Before the call ends with it: that is not the backend's fault.
        context.record.endStream(of: 0, .cancelled, at: now)
    }

    /// The response is complete, or not needed any more.
    func responseEnded() { end() }

    func responseTruncated(by error: any Error) {
        context.streamEnded(truncation(by: error))
        end(CallFailure(error).kind)
    }

    private func truncation(by error: any Error) -> StreamEnd {
        // The call ends with the body of its request, too: that is not the backend's fault.
        if requestError != nil { return .requestBroken }
        return (error as? ClientFailure)?.isLocal == true ? .memoryLimit : .backendTruncated
    }

    // MARK: The outcome

    func whenAttemptEnds(_ body: @escaping () -> Void) {
        if case .ended = phase { body() } else { outcomeHandlers.append(body) }
    }

    func endAttempt() {
        guard !outcomeHandlers.isEmpty else { return }
        let handlers = outcomeHandlers
        outcomeHandlers = []
        for handle in handlers { handle() }
    }

    /// - Parameter failure: why the body of the response ended early; nil if it is complete, or if
    ///   its end says nothing about the backend
    private func end(_ failure: CallFailureKind? = nil) {
        context.record.endStream(of: 0, failure, at: now)
        phase = .ended
        endAttempt()
        timer.take()?.cancel()
        continueTimer.take()?.cancel()
        permit.take()?.release()
        if let requestPipe = requestPipe.take() {
            context.record.bodyBytes = requestPipe.bytes
            // A body that is never read would retain the transfer.
            requestPipe.transfer = nil
        }
        responsePipe = nil
        if webSocket != nil { context.endWebSocket = nil }
        assert(isConsistent, "a transfer ends and keeps a part of it")
    }

    // MARK: Time limits

    /// When the present phase has lasted too long.
    private var due: Instant? {
        let limit: Instant
        switch phase {
        case .ended: return nil
        case .awaitingHead(let since): limit = since + plan.timeout
        case .receivingRequest, .sendingResponse: limit = lastActivity + plan.idleTimeout
        }
        return plan.maxDuration.map { min(limit, began + $0) } ?? limit
    }

    private func armTimer() {
        guard let due else { return }
        assert(lastActivity <= now && began <= lastActivity, "activity in the future")
        if let armed = timer?.due, armed <= due { return }
        timer?.cancel()
        timer = proxy.loop.timer(after: due - now) { [self] in timerFired() }
    }

    private func timerFired() {
        timer = nil
        assert(isConsistent, "a timer outlives its phase")
        guard let due else { return }
        guard due <= now else { return armTimer() }
        let isOverall = plan.maxDuration.map { began + $0 <= now } ?? false
        if !isOverall, hasReceiverMoved() {
            recordActivity()
            return armTimer()
        }
        switch phase {
        case .ended: break
        case .awaitingHead: fail(isOverall ? plan.maxDuration ?? plan.timeout : plan.timeout)
        case .receivingRequest where !isOverall && (requestPipe?.awaitsSource ?? false):
            fail(with: RequestTooSlow())
        // The backend takes no body, or has not decided about it: that is not the client's fault.
        case .receivingRequest:
            fail(isOverall ? plan.maxDuration ?? plan.idleTimeout : plan.idleTimeout)
        case .sendingResponse:
            context.streamEnd = isOverall ? .maxDuration : .idle
            if backendStalls(isOverall: isOverall) {
                context.record.endStream(of: 0, .responseTimeout, at: now)
            }
            responsePipe?.fail(TransferTooSlow())
        }
    }

    /// Whether a side that reads slowly has taken bytes of a body that is passed on.
    private func hasReceiverMoved() -> Bool {
        switch phase {
        case .receivingRequest: requestPipe?.hasReceiverMoved() ?? false
        case .sendingResponse:
            // Reads both, so that neither move counts again at the next check.
            [requestPipe, responsePipe].map { $0?.hasReceiverMoved() ?? false }.contains(true)
        case .awaitingHead, .ended: false
        }
    }

    /// Whether only the backend is awaited for the body of its response: the client reads, and has no
    /// more to send.
    ///
    /// - Parameter isOverall: `max_duration` has passed, which may end a stream that never ends by
    ///   itself. Such a stream must have been silent for the second half of that time.
    private func backendStalls(isOverall: Bool) -> Bool {
        guard !isTunnel, let responsePipe, responsePipe.awaitsSource,
            requestPipe?.awaitsSource != true
        else { return false }
        return !isOverall || (now - lastActivity) >= (lastActivity - began)
    }

    /// No head came within a limit.
    private func fail(_ limit: Duration) {
        fail(with: CallFailure.responseTimeout(limit: limit))
    }

    private func fail(with error: any Error) {
        guard let resolver = resolver.take() else { return }
        call.take()?.cancel(because: error)
        end()
        respond(to: error, consume resolver)
    }
}

extension ProxyTransfer: Cancellable {
    /// The client is gone, or does not wait any longer.
    func cancel(because cause: (any Error)?) {
        _ = resolver.take()
        call.take()?.cancel()
        end()
    }
}

/// The client did not send the body of its request: 408.
struct RequestTooSlow: Error {}

/// A limit ended the response behind its head.
struct TransferTooSlow: Error {}
