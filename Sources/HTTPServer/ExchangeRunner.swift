import Basics
import HTTP
import Promises
import Reactor

/// Runs one exchange, from the head of its request to the last byte of its response: reserves its
/// bytes, takes its permit, calls the service, then settles, rejects or cancels.
///
/// The exchange ends when the body of its response ends. That returns the permit and the bytes, and
/// writes the log line. Protocol-neutral: a connection of HTTP/1.1 has one runner at a time, HTTP/2 is
/// to have one for each stream. Its carrier owns it; confined to the loop's thread.
final class ExchangeRunner {
    let request: Request
    let exchange: Exchange
    /// The body of the request while it arrives; nil if it came together with the head.
    let requestBody: RequestBodySource?
    /// What the carrier has to write, from its call to `responseReady` on.
    private(set) var response: Response?

    private unowned let server: Server
    /// Until the end.
    private var carrier: (any ExchangeCarrier)?
    private let kind: Kind
    /// What the service promised, or the chain that a rejection passes.
    private var promise: LocalPromise<Response>?
    private var hasPermit = false
    private var isRejected = false
    private var isOver = false

    private enum Kind {
        /// A request, which is counted and logged.
        case request
        /// The response to something that is no request, or to one that was cancelled.
        case rejection
    }

    /// A request has begun.
    ///
    /// - Parameter body: nil if it is still to come
    init(
        _ head: RequestHead, _ body: Bytes?, from client: String?, carrier: any ExchangeCarrier,
        of server: Server
    ) {
        exchange = Exchange(head, on: server.loop, client: client, budget: server.budget)
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
    }

    /// Something is rejected that is no request.
    ///
    /// - Parameter isHead: it begins like a HEAD request, whose response has no body
    init(
        rejectingHead isHead: Bool, from client: String?, carrier: any ExchangeCarrier,
        of server: Server
    ) {
        // Stands for what never became a request, so that its rejection can pass a chain.
        let head = RequestHead(method: isHead ? .head : .get, target: .root)
        exchange = Exchange(head, on: server.loop, client: client, budget: server.budget)
        request = Request(head: head, body: .empty)
        requestBody = nil
        self.carrier = carrier
        self.server = server
        kind = .rejection
    }

    /// A request is rejected that was cancelled.
    init(rejecting former: ExchangeRunner, carrier: any ExchangeCarrier) {
        request = former.request
        exchange = former.exchange
        requestBody = nil
        self.carrier = carrier
        server = former.server
        kind = .rejection
    }

    /// Whether the client has to be ready for interim responses (RFC 9110 15.2).
    var takesInterimResponses: Bool { kind == .request && request.head.version >= .http11 }

    /// Whether it runs a request, and no rejection of what is none.
    var isRequest: Bool { kind == .request }

    // MARK: Begin

    /// Hands the request to the service, or rejects it where a limit is reached.
    func runService() {
        guard server.hasPermits, exchange.reserve(request.memoryBytes) else {
            return reject(.overloaded)
        }
        if requestBody == nil { takePermit() }
        let promise = server.service(request, exchange)
        self.promise = promise
        // A service that waits for no body is at work.
        if !(requestBody?.isWanted ?? false) { takePermit() }
        promise.whenSettled { [self] result in handleResult(result) }
    }

    // MARK: The body of the request

    /// Its last byte has come.
    func requestBodyEnded() {
        exchange.lastByte = server.loop.now
        guard let requestBody, requestBody.isWanted else { return }
        // Only now it counts, so that a client that sends its body slowly takes no permit. The reader
        // of the body rejects one too many, so that it can be held back like its other responses.
        guard hasPermit || server.hasPermits else {
            return requestBody.fail(RequestLimitReached())
        }
        takePermit()
        requestBody.deliverEnd()
    }

    /// Its rest cannot be read. The rejection is a response of the service, and a minimum duration
    /// counts from now.
    func requestBodyFailed(_ error: WireError) {
        exchange.lastByte = server.loop.now
        takePermit()
        requestBody?.fail(error)
    }

    // MARK: The response

    private func handleResult(_ result: Result<Response, any Error>) {
        // It was given up, or rejected, before the service had a response.
        guard !isOver, !isRejected else { return result.cancelStream() }
        switch result {
        case .success(let response):
            // No upgrade is offered, so there is none that a service could accept.
            guard case .tunnel(let tunnel) = response.body else {
                return respond(with: response, isLast: false)
            }
            tunnel.cancel()
            reject(.failed)
        case .failure(let error as WireError): reject(.malformed(error))
        case .failure(is RequestLimitReached): reject(.overloaded)
        // The rest of the body would have to be read before the next request.
        case .failure(is BufferedBytesExceeded): reject(.overloaded, isLast: true)
        // A service that fails without a response is an internal error.
        case .failure: reject(.failed)
        }
    }

    /// Responds in the place of the service, whose work is cancelled. The response passes the
    /// embedder's chain for rejections.
    func reject(_ rejection: Rejection, isLast: Bool = false) {
        guard !isOver, !isRejected else { return }
        isRejected = true
        promise?.cancel()
        // Behind the cancellation, so that the reader of the body has withdrawn from it.
        requestBody?.detach()
        let response = rejection.response(exchange.id, server.settings)
        guard let pass = server.hooks.rejection else {
            return respond(with: response, isLast: isLast)
        }
        let passed = pass(response, request, exchange)
        promise = passed
        passed.whenSettled { [self] result in
            guard !isOver else { return result.cancelStream() }
            // The client gets its rejection even if the chain fails.
            let passed = (try? result.get()) ?? response
            guard case .tunnel(let tunnel) = passed.body else {
                return respond(with: passed, isLast: isLast)
            }
            tunnel.cancel()
            respond(with: response, isLast: isLast)
        }
    }

    private func respond(with response: Response, isLast: Bool) {
        self.response = response
        carrier?.responseReady(isLast: isLast)
    }

    // MARK: End

    /// The last byte of the response was written, or the last that there is.
    ///
    /// - Parameters:
    ///   - bodyBytes: those of the response's body that were written
    ///   - isTruncated: the response broke off
    func end(bodyBytes: Int, isTruncated: Bool = false) {
        guard let response else { return }
        finish(status: response.status.code, bodyBytes, isTruncated)
    }

    /// Cancels the work for a request that gets no response, or another one.
    ///
    /// - Parameter status: for the log
    func cancel(status: UInt16) {
        guard !isOver else { return }
        promise?.cancel()
        response?.body.source?.cancel()
        finish(status: status, 0, false)
    }

    private func finish(status: UInt16, _ bodyBytes: Int, _ isTruncated: Bool) {
        guard !isOver else { return }
        isOver = true
        returnPermit()
        requestBody?.detach()
        carrier = nil
        if isRequest {
            server.hooks.exchangeEnded(
                ServerHooks.ExchangeEnd(
                    exchange: exchange, request: request.head, status: status,
                    bodyBytes: bodyBytes, isTruncated: isTruncated))
        }
        exchange.end()
    }

    // MARK: Permits

    private func takePermit() {
        guard !isOver, !isRejected, !hasPermit else { return }
        hasPermit = true
        server.requestsInFlight += 1
    }

    private func returnPermit() {
        guard hasPermit else { return }
        hasPermit = false
        server.requestsInFlight -= 1
    }
}

extension Exchange {
    /// A new exchange for a request: with the client's id if that is valid, and part of the client's
    /// trace if there is one.
    fileprivate convenience init(
        _ head: RequestHead, on loop: any Loop, client: String?, budget: ByteBudget
    ) {
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        let trace = head.fields[.traceparent].flatMap { TraceContext(traceparent: $0.bytes.span) }
        self.init(
            id: id ?? RequestID(from: loop.entropy),
            trace: trace ?? TraceContext(from: loop.entropy),
            local: loop.local, began: loop.now, client: client, budget: budget)
    }
}

extension Request {
    /// What is in memory of it when it begins.
    fileprivate var memoryBytes: Int {
        let lines = head.fields.memoryBytes
        if case .bytes(let bytes) = body { return lines + bytes.count }
        return lines
    }
}

extension Result<Response, any Error> {
    /// The response is not sent: what it would deliver is not needed.
    fileprivate func cancelStream() {
        if case .success(let response) = self { response.body.source?.cancel() }
    }
}
