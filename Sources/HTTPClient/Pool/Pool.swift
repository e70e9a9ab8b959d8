package import Basics
import HTTP
import HTTP2
package import Promises
package import Reactor

/// The connections of one worker to one origin. Performs the actions of `PoolStateMachine`.
///
/// Looked up once, when the chain is built, not for each call. Confined to its loop.
package final class Pool: CallPool {
    /// The destination of its connections.
    package let origin: Origin

    let settings: PoolSettings
    /// The limits of the settings, which all connections share.
    private let limits: WireLimits
    let loop: any Loop
    private let local: LocalContext
    var now: Instant { loop.now }
    private let connector: Connector
    private let writer = RequestWriter()
    /// Nil for a pool that never uses HTTP/2.
    let h2Writer: H2RequestWriter?
    var h2State = H2PoolState()
    var machine: PoolStateMachine<PendingCall>
    var links = PoolLinks()
    private var expiry: Timer?
    /// Due when the first connection becomes too old.
    private var ageing: Timer?
    private var closing: LocalResolver<Void>?
    private var closed: LocalPromise<Void>?

    package init(origin: Origin, settings: PoolSettings, loop: any Loop) {
        self.origin = origin
        self.settings = settings
        limits = WireLimits(settings.limits)
        self.loop = loop
        local = loop.local
        connector = Connector(origin, settings, loop: loop)
        h2Writer =
            settings.mayUseHTTP2 ? H2RequestWriter(isSecure: settings.security != nil) : nil
        machine = PoolStateMachine(
            maxIdle: settings.maxIdle, maxConnections: settings.maxConnections,
            idleTimeout: settings.idleTimeout)
        if settings.requiresHTTP2 { expectHTTP2() }
        connector.refreshAddresses { [unowned self] in
            !isEmpty
        } _: { [unowned self] addresses in
            retireConnections(exceptTo: addresses)
        }
    }

    deinit {
        connector.stop()
        expiry?.cancel()
        ageing?.cancel()
        h2State.pause?.cancel()
        for connection in links.connections { connection.close() }
    }

    /// Running calls: those with a connection and those that wait for one.
    package var inFlight: Int { machine.calls + machine.waiting }

    /// Idle connections.
    package var idle: Int { machine.idle }

    /// Connections that exist: leased and idle ones.
    package var openConnections: Int { machine.leased + machine.idle }

    /// Connections that serve a call.
    package var leased: Int { machine.leased }

    /// Connections being made.
    package var connecting: Int { machine.connecting }

    /// Calls that have a connection.
    package var calls: Int { machine.calls }

    /// The most idle connections that it keeps.
    package var maxIdle: Int { settings.maxIdle }

    /// All connections, including those being made.
    package var connections: Int {
        machine.leased + machine.idle + machine.connecting
    }

    /// What the pool has at this moment.
    package var usage: PoolUsage {
        PoolUsage(
            idle: machine.idle, inUse: machine.leased, connecting: machine.connecting,
            waiting: machine.waiting, isUnresolved: connector.isUnresolved)
    }

    /// Whether a further call would wait for the end of another. Never without a limit of connections.
    package var isFull: Bool { machine.isFull }

    /// Whether there is neither a connection nor a call.
    var isEmpty: Bool { machine.isEmpty }

    /// Sends a request and promises its complete response. Rejects with `ClientFailure`.
    ///
    /// Cancelling removes the call from the queue, closes its connection, or resets its stream of HTTP/2;
    /// so does the end of its time.
    ///
    /// - Parameter limit: nil for no other limit than `connectTimeout`
    package func send(
        _ request: consuming ClientRequest, within limit: consuming TimeLimit? = nil,
        holding permit: Permit? = nil
    ) -> LocalPromise<ClientResponse> {
        let duration = limit?.duration
        let call = PendingCall(request, to: self, nil, within: limit, holding: permit)
        if let duration { call.startTimer(after: duration, on: loop) }
        return dispatchCall(call)
    }

    /// Sends a request and promises the head of its response, whose body may be a `stream`. The call
    /// lasts until that body ends: its source must be started or cancelled or dropped.
    ///
    /// Rejects with `ClientFailure`, which is also the error of a failed body. Cancelling has an
    /// effect until the head arrives; afterwards the source is cancelled instead.
    package func sendStreaming(
        _ request: consuming ClientRequest, _ stream: any StreamedCall,
        holding permit: Permit? = nil
    ) -> LocalPromise<ClientResponse> {
        dispatchCall(PendingCall(request, to: self, stream, holding: permit))
    }

    /// Sends the call on a connection with room for it, or lets it wait for one.
    private func dispatchCall(_ call: PendingCall) -> LocalPromise<ClientResponse> {
        let response = call.promise(on: local)
        assignConnection(to: call)
        return response
    }

    func assignConnection(to call: PendingCall) {
        switch machine.checkout(call) {
        case .lease(let id): sendCall(call, on: id)
        case .wait(let ticket, let connect):
            call.assignment = .waiting(ticket)
            if let connect { self.connect(connect) }
        case .refuse:
            call.fail(
                h2State.isPaused
                    ? ClientFailure(.connectionTerminated, .calm, wasSent: false)
                    : ClientFailure(.connectionRefused, .poolClosed, wasSent: false))
        }
    }

    /// From now on no idle connection is kept: idle ones are closed at once, others after their
    /// call. For a pool that no plan uses any more, while its last requests run.
    package func drain() {
        machine.drain()
        removeUnneeded()
    }

    /// Serves only calls that wait already, and keeps no idle connection. The promise is fulfilled
    /// when the last call has ended and the last connection is closed.
    @discardableResult
    package func close() -> LocalPromise<Void> {
        if let closed { return closed }
        let resolver = LocalResolver<Void>(on: local)
        let promise = resolver.promise
        closing = consume resolver
        closed = promise
        machine.close()
        removeUnneeded()
        return promise
    }

    // MARK: Events of calls and connections

    /// Cancels a call.
    func cancelCall(_ call: PendingCall) {
        let assignment = call.assignment
        call.discardResult()
        switch assignment {
        case .unassigned: break
        case .waiting(let ticket): perform(machine.cancelWaiter(ticket))
        case .leased(let id):
            // A call whose connection is being replaced has none.
            if let connection = links.connection(id) {
                connection.cancel(call)
            } else {
                removeConnection(id)
            }
        }
    }

    /// Runs an action in this loop iteration, never inside this call.
    func runSoon(_ action: @escaping () -> Void) {
        local.value(()).whenSettled { _ in action() }
    }

    /// A connection can be used again.
    func returnConnection(_ id: ConnectionID) {
        perform(machine.returnConnection(id, at: now))
        armExpiry()
    }

    /// A connection is closed, or could not be made.
    func removeConnection(_ id: ConnectionID) {
        release(id)
        perform(machine.removeConnection(id))
    }

    /// A connection failed during a call. If the connection was a reused one, the request may be
    /// resent on a new connection that replaces it. The new one is not a reused one, so a request
    /// is resent at most once.
    func handleFailure(
        of call: PendingCall, on id: ConnectionID, _ failure: ClientFailure, mayResend: Bool
    ) {
        if mayResend, call.request.isRepeatable, failure.isSafeToRetry(call.request.method) {
            release(id)
            connect(id, for: call)
        } else {
            removeConnection(id)
            call.fail(failure)
        }
    }

    // MARK: Actions

    func perform(_ action: PoolStateMachine<PendingCall>.Action) {
        switch action {
        case .nothing: break
        case .serve(let call, let id): sendCall(call, on: id)
        case .connect(let id): connect(id)
        case .giveUp(let id), .retire(let id): release(id)
        case .fail(let calls, let failure, let next):
            for call in calls { call.fail(failure) }
            if let next { connect(next) }
        }
        assert(
            links.count <= machine.leased + machine.idle, "the pool has lost a connection")
        resolveCloseIfEmpty()
    }

    func sendCall(_ call: PendingCall, on id: ConnectionID) {
        assert(links.connection(id) != nil, "a call gets a connection that does not exist")
        call.assignment = .leased(id)
        links.connection(id)?.send(call)
    }

    /// Closes a connection, or cancels making it.
    func release(_ id: ConnectionID) {
        switch links.takeLink(id) {
        case .none: break
        case .connection(let connection, _):
            connection.close()
            // No timer for an empty pool.
            if links.isEmpty { ageing.take()?.cancel() }
        case .connecting(let attempt): attempt.stream.cancel()
        }
    }

    private func removeUnneeded() {
        connector.stop()
        while let id = machine.removeUnneeded() { release(id) }
        expiry?.cancel()
        expiry = nil
        ageing?.cancel()
        ageing = nil
        resolveCloseIfEmpty()
    }

    /// Resolves the promise of `close` when nothing is left.
    private func resolveCloseIfEmpty() {
        assert(!machine.isEmpty || links.isEmpty, "a connection outlives its slot")
        if machine.isEmpty { closing.take()?.fulfill(()) }
    }

    // MARK: Connecting

    /// Makes a connection, for the queue or to replace the failed one of a call.
    func connect(_ id: ConnectionID, for call: PendingCall? = nil) {
        let stream = connector.connect(offering: offeredProtocols)
        let number = links.beginConnect(stream, resending: call, at: id)
        stream.whenSettled { result in
            guard let attempt = self.links.endConnect(number, at: id) else { return }
            switch result {
            case .success(let stream): self.connected(id, stream, for: attempt.resending)
            case .failure(let error): self.failedToConnect(id, error, for: attempt.resending)
            }
        }
    }

    private func connected(_ id: ConnectionID, _ stream: any ByteStream, for call: PendingCall?) {
        if h2Writer != nil, usesHTTP2(stream) { return connectedHTTP2(id, stream, for: call) }
        if settings.requiresHTTP2 {
            stream.close()
            return failedToConnect(
                id, ClientFailure(.protocolError, .notNegotiated, wasSent: false), for: call)
        }
        let connection = ClientConnection(
            id, on: stream, of: self, writer: writer, limits: limits)
        addConnection(connection, on: stream, at: id)
        connection.startReading()
        if let call {
            sendCall(call, on: id)
        } else {
            perform(machine.completeConnect(id, at: now))
            armExpiry()
        }
        if h2Writer != nil { expectHTTP1() }
    }

    func failedToConnect(_ id: ConnectionID, _ error: any Error, for call: PendingCall?) {
        let failure = error as? ClientFailure ?? .connect(.cancelled)
        if let call {
            call.fail(failure)
            perform(machine.removeConnection(id))
        } else {
            perform(machine.failConnect(id, because: failure))
        }
    }

    /// A connection was made: it gets calls until its term ends.
    func addConnection(
        _ connection: any PooledConnection, on stream: any ByteStream, at id: ConnectionID
    ) {
        let term = ConnectionTerm(
            from: now, settings.maxAge, to: stream.peer, loop.entropy)
        links.setConnection(connection, term, at: id)
        armAgeing(for: term.end)
    }

    // MARK: The end of a term

    /// One timer for all connections.
    private func armAgeing(for due: Instant) {
        if let armed = ageing?.due, armed <= due { return }
        ageing?.cancel()
        // Not weak, as in `armExpiry`.
        ageing = loop.timer(after: due - now) { [unowned self] in retireAged() }
    }

    private func retireAged() {
        ageing = nil
        let (now, terms) = (now, links.terms)
        for (id, term) in terms where term.end <= now { links.connection(id)?.retire() }
        if let next = terms.map(\.term.end).filter({ $0 > now }).min() { armAgeing(for: next) }
    }

    /// The name has these addresses now: connections to others get no more calls. None are known if
    /// the name does not exist, which may be a mistake of its service.
    private func retireConnections(exceptTo addresses: [IPAddress]) {
        guard !addresses.isEmpty else { return }
        for (id, term) in links.terms {
            guard let address = term.address, !addresses.contains(address) else { continue }
            links.connection(id)?.retire()
        }
    }

    // MARK: Expiry

    /// One timer for all idle connections, due for the oldest. It is not moved when that one is
    /// leased: firing without effect once in `idleTimeout` is cheaper.
    func armExpiry() {
        guard expiry == nil, let due = machine.nextExpiry else { return }
        // Not weak, which would make every retain of this object slower; `deinit` cancels the
        // timer.
        expiry = loop.timer(after: due - loop.now) { [unowned self] in expire() }
    }

    private func expire() {
        expiry = nil
        while let id = machine.expire(at: now) { release(id) }
        armExpiry()
    }
}
