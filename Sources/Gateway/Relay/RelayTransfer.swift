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
final class RelayTransfer {
    /// What the route does with heads and trailers.
    private let head: RelayHead
    private var plan: RelayPlan { head.plan }
    private let exchange: Exchange
    private let breaker: CircuitBreaker?
    private let loop: any Loop
    /// The request that the backend gets.
    let relayed: RelayedRequest

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
    private var requestPipe: RelayPipe?
    private var responsePipe: RelayPipe?
    private var call: LocalPromise<ClientResponse>?
    /// Unchecked: it is taken out before it is used or released.
    @exclusivity(unchecked) private var resolver: LocalResolver<ClientResponse>?
    private let began: Instant
    /// When a byte was transferred last.
    private var lastActivity: Instant
    private var timer: Timer?
    private var continueTimer: Timer?

    /// How long a client that expects `100 Continue` waits for the backend's decision.
    ///
    /// 1 s: RFC 9110 10.1.1 forbids to wait for ever, and common servers decide at once.
    private static let continueTimeout = Duration.seconds(1)

    /// - Parameters:
    ///   - host: the value of `Host`; nil for that of the backend's URL
    ///   - upgrade: the protocol that the client wants to switch to; nil for none
    init(
        _ head: RelayHead, _ request: Request, _ exchange: Exchange, host: FieldValue?,
        upgrade: FieldValue?, breaker: CircuitBreaker?, loop: any Loop
    ) {
        self.head = head
        self.exchange = exchange
        self.breaker = breaker
        self.loop = loop
        began = loop.now
        lastActivity = loop.now
        var expectsContinue = false
        var body = Body.described(length: nil)
        switch request.body {
        case .described, .tunnel: break
        case .bytes(let bytes):
            if !bytes.isEmpty { body = request.body }
            exchange.record.bodyBytes = bytes.count
        case .stream(let source):
            expectsContinue = request.head.expectsContinue
            let pipe = RelayPipe(
                source, .request, bytesMax: head.plan.bodyMax, isHeld: expectsContinue)
            requestPipe = pipe
            body = .stream(pipe)
        }
        phase = requestPipe == nil ? .awaitingHead(since: began) : .receivingRequest
        relayed = RelayedRequest(
            body, host: host,
            StreamedCall(
                expectsContinue: expectsContinue,
                acceptsTrailers: request.head.fields.acceptsTrailers, upgrade: upgrade))
        requestPipe?.transfer = self
        relayed.stream.interimReceived = { [unowned self] head in pass(interim: head) }
    }

    // MARK: The call

    /// Starts the call; promises the head of its response. Cancelling ends the transfer.
    func start(
        _ service: CallService, _ request: CallRequest
    ) -> LocalPromise<ClientResponse> {
        let resolver = LocalResolver<ClientResponse>(on: exchange.local)
        let promise = resolver.promise
        resolver.onCancel { [self] _ in abandon() }
        unsafe self.resolver = consume resolver
        armTimer()
        if requestPipe != nil, relayed.stream.expectsContinue {
            continueTimer = loop.timer(after: Self.continueTimeout) { [self] in
                continueTimer = nil
                requestPipe?.release()
            }
        }
        let call = service(request, exchange)
        self.call = call
        call.whenSettled { [self] result in headReceived(result) }
        return promise
    }

    private func headReceived(_ result: Result<ClientResponse, any Error>) {
        call = nil
        continueTimer.take()?.cancel()
        guard let resolver = unsafe resolver.take() else { return }
        switch result {
        case .failure(let error):
            end()
            resolver.reject(requestError ?? error)
        case .success(let response):
            guard hasAgreed(response) else {
                response.body.source?.cancel()
                end()
                return resolver.reject(CallFailure.connection(.refusedUpgrade))
            }
            relayed.permit.take().map(exchange.holdUntilEnd)
            lastActivity = loop.now
            resolver.fulfill(relayed(response))
        }
    }

    /// Whether a backend that switches to another protocol switches to the one that the client wants.
    private func hasAgreed(_ response: ClientResponse) -> Bool {
        guard case .tunnel(let tunnel) = response.body else { return true }
        return response.fields.lists(tunnel.protocolName.bytes.span, in: .upgrade)
    }

    /// The same response, whose body passes through a pipe.
    private func relayed(_ response: ClientResponse) -> ClientResponse {
        switch response.body {
        case .stream(let source):
            phase = .sendingResponse
            let pipe = RelayPipe(source, .response)
            pipe.transfer = self
            responsePipe = pipe
            armTimer()
            return ClientResponse(
                status: response.status, fields: response.fields, body: .stream(pipe))
        case .tunnel(let tunnel):
            phase = .sendingResponse
            let pipe = RelayPipe(tunnel, .response)
            pipe.transfer = self
            responsePipe = pipe
            armTimer()
            return ClientResponse(
                status: response.status, fields: response.fields,
                body: .tunnel(RelayTunnel(tunnel, pipe, self)))
        case .bytes, .described:
            end()
            return response
        }
    }

    /// The client is gone, or a limit ended the wait for the head.
    private func abandon() {
        _ = unsafe resolver.take()
        call.take()?.cancel()
        end()
    }

    // MARK: Interim responses

    /// RFC 9110 15.2: passed on, except those that concern one connection only.
    private func pass(interim head: ResponseHead) {
        switch head.status.code {
        case 100: requestPipe?.release()
        case 101, 102: break
        default:
            exchange.interim?.sendInterim(head.status, RelayHead.interimFields(head.fields))
        }
    }

    // MARK: Events of the bodies

    func recordActivity() { lastActivity = loop.now }

    func requestStarted() {
        relayed.hasStartedBody = true
        recordActivity()
    }

    func requestEnded(_ bytes: Int) {
        exchange.record.bodyBytes = bytes
        exchange.requestReceived = loop.now
        guard case .receivingRequest = phase else { return }
        phase = .awaitingHead(since: loop.now)
        armTimer()
    }

    /// The trailers of the request that the backend gets.
    func passedTrailers(_ trailers: Fields) -> Fields {
        head.requestTrailers(trailers)
    }

    /// The backend needs no more of the body.
    func requestStopped(_ bytes: Int) { exchange.record.bodyBytes = bytes }

    /// Why the body of the request could not be passed on.
    private var requestError: (any Error)?

    func requestFailed(_ bytes: Int, _ error: any Error) {
        exchange.record.bodyBytes = bytes
        requestError = error
    }

    /// The response is complete, or not needed any more.
    func responseEnded() { end() }

    func responseTruncated() {
        // The call ends with the body of its request, too: that is not the backend's fault.
        let isOfBackend = requestError == nil
        if exchange.record.streamEnd == nil {
            exchange.record.streamEnd = isOfBackend ? .backendTruncated : .requestBroken
        }
        if isOfBackend { breaker?.recordTruncation() }
        end()
    }

    private func end() {
        phase = .ended
        timer.take()?.cancel()
        continueTimer.take()?.cancel()
        relayed.permit.take()?.release()
        relayed.stream.interimReceived = nil
        // A body that is never read would retain the transfer.
        requestPipe.take()?.transfer = nil
        responsePipe = nil
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
        if let armed = timer?.due, armed <= due { return }
        timer?.cancel()
        timer = loop.timer(after: due - loop.now) { [self] in timerFired() }
    }

    private func timerFired() {
        timer = nil
        guard let due else { return }
        guard due <= loop.now else { return armTimer() }
        let isOverall = plan.maxDuration.map { began + $0 <= loop.now } ?? false
        switch phase {
        case .ended: break
        case .awaitingHead: fail(isOverall ? plan.maxDuration ?? plan.timeout : plan.timeout)
        case .receivingRequest where !isOverall && (requestPipe?.awaitsSource ?? false):
            fail(with: RequestTooSlow())
        // The backend takes no body, or has not decided about it: that is not the client's fault.
        case .receivingRequest:
            fail(isOverall ? plan.maxDuration ?? plan.idleTimeout : plan.idleTimeout)
        case .sendingResponse:
            exchange.record.streamEnd = isOverall ? .maxDuration : .idle
            responsePipe?.fail(TransferTooSlow())
        }
    }

    /// No head came within a limit.
    private func fail(_ limit: Duration) {
        fail(with: CallFailure.responseTimeout(limit: limit))
    }

    private func fail(with error: any Error) {
        guard let resolver = unsafe resolver.take() else { return }
        call.take()?.cancel(because: error)
        end()
        resolver.reject(error)
    }
}

/// The client did not send the body of its request: 408.
struct RequestTooSlow: Error {}

/// A limit ended the response behind its head.
struct TransferTooSlow: Error {}
