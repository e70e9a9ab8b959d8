import Basics
import HTTP
import Promises
import Reactor

/// One request, from `Pool.send` to the end of its response: the request, its connection, and the
/// destination of the response. Confined to its pool's loop.
///
/// A complete response fulfills the promise when its body ends. A streamed response fulfills it with
/// the head, and the rest goes to a `ResponseBodySource`.
final class PendingCall {
    enum Assignment {
        /// Between two states, or ended.
        case unassigned
        case waiting(WaitQueue<PendingCall>.Ticket)
        /// It has this connection, or one is being made to replace it.
        case leased(ConnectionID)
    }

    let request: ClientRequest
    let pool: any CallPool
    /// Nil for a complete response.
    let stream: (any StreamedCall)?
    /// Nil for an attempt that is not recorded. Its record serves no other exchange while this call
    /// exists, because `request` retains the exchange.
    private let attempt: ObservedAttempt?
    /// Held until the backend can have ended its work: over HTTP/2 a cancelled call may keep its stream
    /// open. Nil without a limit.
    let permit: Permit?
    var assignment = Assignment.unassigned

    private var resolver: LocalResolver<ClientResponse>?
    private var collector = ResponseCollector()

    /// Its stream on a connection of HTTP/2, which owns the call. Nil for HTTP/1.1.
    unowned var h2Stream: (any CallStream)?
    /// How often it was sent again, on another connection of HTTP/2.
    var resends = CallResends()
    /// Its time is over.
    private(set) var isTimedOut = false

    /// Nil without a limit.
    private let timeLimitError: (any Error)?
    /// Nil without a limit, and after the end.
    private var timer: Timer?

    /// Set while a streamed response arrives. Not owned: a source that its user drops cancels the
    /// call.
    unowned var source: ResponseBodySource?

    init(
        _ request: consuming ClientRequest, to pool: any CallPool, _ stream: (any StreamedCall)?,
        within limit: TimeLimit? = nil, holding permit: Permit?
    ) {
        self.pool = pool
        self.stream = stream
        timeLimitError = limit?.error
        attempt = ObservedAttempt(of: request)
        self.permit = permit
        self.request = request
    }

    /// The promise of the response. Called once.
    func promise(on local: LocalContext) -> LocalPromise<ClientResponse> {
        let resolver = LocalResolver<ClientResponse>(on: local)
        let promise = resolver.promise
        resolver.onCancel(cancel: self)
        self.resolver = consume resolver
        return promise
    }

    /// Rejects the promise and cancels the call after this time, the time of its limit.
    func startTimer(after duration: Duration, on loop: any Loop) {
        // Captures nothing else, so that the closure needs no memory.
        timer = loop.timer(after: duration) { [self] in timeLimitReached() }
    }

    private func timeLimitReached() {
        assert(timer != nil, "a call times out after its end")
        attempt?.failed(.timedOut, at: pool.now)
        isTimedOut = true
        if let timeLimitError { takeResolver()?.reject(timeLimitError) }
        pool.cancelCall(self)
    }

    /// The resolver, at the end of the call.
    private func takeResolver() -> LocalResolver<ClientResponse>? {
        timer.take()?.cancel()
        return resolver.take()
    }

    /// Records that the request is written to a connection.
    func recordSent(_ version: HTTPVersion, reusingConnection: Bool) {
        attempt?.sent(
            version, bodyBytes: request.bodyBytes, reusingConnection: reusingConnection,
            at: pool.now)
    }

    // MARK: The response

    /// The head of an interim response arrived.
    func receiveInterim(_ head: ResponseHead) {
        stream?.receiveInterim(head)
    }

    /// The head of the response arrived on a connection. Throws if the response cannot be taken.
    func receive(
        _ head: ResponseHead, on connection: any ResponseCarrier
    ) throws(ClientFailure) {
        attempt?.answered(head.status, at: pool.now)
        // A response without a body ends at once, so that there is nothing to stream.
        let isUpgraded = head.status.code == 101
        guard stream != nil, isUpgraded || head.hasBody else {
            return try collector.begin(head, for: request)
        }
        let source = ResponseBodySource(
            isUpgraded ? .untilClose : head.framing, of: self, on: connection)
        self.source = source
        connection.pauseReading()
        takeResolver()?.fulfill(
            ClientResponse(
                status: head.status, fields: head.fields,
                body: isUpgraded ? .tunnel(source) : .stream(source),
                attempt: attempt?.place()))
    }

    /// A piece of the body arrived. Throws if the response cannot be taken.
    func receive(_ piece: Span<UInt8>) throws(ClientFailure) {
        if stream != nil, let source = source { return try source.receive(piece) }
        try collector.append(piece)
    }

    /// A piece of the trailer section arrived.
    func receiveTrailers(_ piece: Span<UInt8>) {
        if stream != nil {
            source?.receiveTrailers(piece)
        } else if request.template.keepsTrailers {
            collector.appendTrailers(piece)
        }
    }

    /// The body is complete: the call has ended.
    func complete() {
        assert(
            permit?.isHeld ?? true || isTunnel,
            "a permit was released before the end of its call")
        assignment = .unassigned
        attempt?.completed(bodyBytes: collector.bodyBytes, at: pool.now)
        if stream != nil, let source = source { return source.complete() }
        guard
            let response = collector.finish(
                toHead: request.method.isHead, attempt: attempt?.place())
        else { return }
        takeResolver()?.fulfill(response)
    }

    /// At the end of a drain, a tunnel may wait for the backend's end longer than its exchange lasts. For
    /// assertions.
    private var isTunnel: Bool {
        guard stream?.upgrade != nil, let source else { return false }
        return source.framing == .untilClose
    }

    /// The call is cancelled: no result is delivered.
    func discardResult() {
        assignment = .unassigned
        attempt?.failed(.cancelled, at: pool.now)
        _ = takeResolver()
    }

    func fail(_ error: any Error) {
        assignment = .unassigned
        attempt?.failed(
            (error as? ClientFailure).map { .connection($0) } ?? .cancelled, at: pool.now)
        if stream != nil, let source = source { return source.fail(error) }
        takeResolver()?.reject(error)
    }
}

extension ResponseHead {
    /// Not `framing != .none`, which calls the comparison of the other module by its address.
    fileprivate var hasBody: Bool { if case .none = framing { false } else { true } }
}

extension PendingCall: Cancellable {
    /// The consumer of the response has withdrawn.
    func cancel(because cause: (any Error)?) { pool.cancelCall(self) }
}
