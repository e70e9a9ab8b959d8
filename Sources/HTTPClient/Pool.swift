import Basics
package import Promises
package import Reactor

/// The connections of one core to one origin. Runs what `PoolStateMachine` decides.
///
/// Found once, when the chain is built; a call then costs no look-up. Confined to its loop.
package final class Pool {
    /// Where its connections lead.
    package let origin: Origin

    private let settings: PoolSettings
    private let loop: any Loop
    private let connector: Connector
    private let writer = RequestWriter()
    /// Unchecked: neither it nor `links` calls anybody.
    @exclusivity(unchecked) private var machine: PoolStateMachine<PendingCall>
    @exclusivity(unchecked) private var links = PoolLinks()
    private var expiry: Timer?
    private var closing: LocalResolver<Void>?
    private var closed: LocalPromise<Void>?

    package init(origin: Origin, settings: PoolSettings, loop: any Loop) {
        self.origin = origin
        self.settings = settings
        self.loop = loop
        connector = Connector(origin, settings, loop: loop)
        unsafe machine = PoolStateMachine(
            maxIdle: settings.maxIdle, maxConnections: settings.maxConnections,
            idleTimeout: settings.idleTimeout)
        connector.refreshAddresses { [unowned self] in !isEmpty }
    }

    deinit {
        connector.stop()
        expiry?.cancel()
        for connection in unsafe links.connections { connection.close() }
    }

    /// Calls under way: those with a connection and those that wait for one.
    package var inFlight: Int { unsafe machine.leased + machine.waiting }

    /// Connections that wait for work.
    package var idle: Int { unsafe machine.idle }

    /// All connections, those being made included.
    package var connections: Int {
        unsafe machine.leased + machine.idle + machine.connecting
    }

    /// Nobody works, nobody waits, nothing is open.
    var isEmpty: Bool { unsafe machine.isEmpty }

    /// Sends a request and promises its complete response. Rejects with `ClientFailure`.
    ///
    /// Cancelling stops the connection that works for it, or gives up the place in line. There is
    /// no limit of time but `connectTimeout`: put a `timeout` on the promise.
    package func send(_ request: ClientRequest) -> LocalPromise<ClientResponse> {
        startCall(PendingCall(request, to: self, isStreaming: false))
    }

    /// Sends a request and promises the head of its response, whose body may be a `stream`. The call
    /// lasts until that body ends: its source must be started or cancelled or dropped.
    ///
    /// Rejects with `ClientFailure`, with which the body may fail, too. Cancelling has an effect until
    /// the head is there; then the source is cancelled instead.
    package func sendStreaming(_ request: ClientRequest) -> LocalPromise<ClientResponse> {
        startCall(PendingCall(request, to: self, isStreaming: true))
    }

    private func startCall(_ call: PendingCall) -> LocalPromise<ClientResponse> {
        let response = call.promise(on: loop.local)
        switch unsafe machine.checkout(call) {
        case .lease(let id): sendCall(call, on: id)
        case .wait(let ticket, let connect):
            call.assignment = .waiting(ticket)
            if let connect { self.connect(connect) }
        case .refuse: call.fail(ClientFailure(.connectionRefused, .poolClosed, wasSent: false))
        }
        return response
    }

    /// From now on no connection is kept: idle ones are closed, others after their call. For a pool
    /// that is in nobody's plan any more, while the last requests still use it.
    package func drain() {
        unsafe machine.drain()
        removeUnneeded()
    }

    /// Serves who waits already and nobody else, and keeps nothing. The promise is fulfilled when
    /// the last call is over and the last connection closed.
    @discardableResult
    package func close() -> LocalPromise<Void> {
        if let closed { return closed }
        let resolver = LocalResolver<Void>(on: loop.local)
        let promise = resolver.promise
        closing = consume resolver
        closed = promise
        unsafe machine.close()
        removeUnneeded()
        return promise
    }

    // MARK: What calls and connections tell

    /// A call is wanted no more.
    func cancelCall(_ call: PendingCall) {
        let assignment = call.assignment
        call.discardResult()
        switch assignment {
        case .unassigned: break
        case .waiting(let ticket): perform(unsafe machine.cancelWaiter(ticket))
        case .leased(let id):
            // While a new connection is being made in place of a broken one, there is none.
            if let connection = unsafe links.connection(id) {
                connection.cancel()
            } else {
                removeConnection(id)
            }
        }
    }

    /// Runs an action in the next pass of the loop, never inside this call.
    func runInNextIteration(_ action: @escaping () -> Void) -> Timer {
        loop.timer(after: .zero, action)
    }

    /// A connection did its work and may do more.
    func returnConnection(_ id: ConnectionID) {
        perform(unsafe machine.returnConnection(id, at: loop.now))
        armExpiry()
    }

    /// A connection is of no use any more, or never came about.
    func removeConnection(_ id: ConnectionID) {
        release(id)
        perform(unsafe machine.removeConnection(id))
    }

    /// A connection broke under a call. The request may go out once more, on a fresh connection
    /// that takes the place of the broken one; and as only a used connection allows a resend, there
    /// is never a second.
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

    private func perform(_ action: PoolStateMachine<PendingCall>.Action) {
        switch action {
        case .nothing: break
        case .serve(let call, let id): sendCall(call, on: id)
        case .connect(let id): connect(id)
        case .giveUp(let id), .retire(let id): release(id)
        case .fail(let call, let failure, let next):
            call.fail(failure)
            if let next { connect(next) }
        }
        resolveCloseIfEmpty()
    }

    private func sendCall(_ call: PendingCall, on id: ConnectionID) {
        call.assignment = .leased(id)
        unsafe links.connection(id)?.send(call)
    }

    /// Closes a connection, or gives up making it.
    private func release(_ id: ConnectionID) {
        switch unsafe links.takeLink(id) {
        case .none: break
        case .connection(let connection): connection.close()
        case .attempt(let attempt): attempt.stream.cancel()
        }
    }

    private func removeUnneeded() {
        connector.stop()
        while let id = unsafe machine.removeUnneeded() { release(id) }
        expiry?.cancel()
        expiry = nil
        resolveCloseIfEmpty()
    }

    /// Tells who waits for the end that it has come.
    private func resolveCloseIfEmpty() {
        if unsafe machine.isEmpty { closing.take()?.fulfill(()) }
    }

    // MARK: Connecting

    /// Makes a connection: for whoever waits, or for the call whose connection broke.
    private func connect(_ id: ConnectionID, for call: PendingCall? = nil) {
        let stream = connector.connect()
        let number = unsafe links.beginAttempt(stream, resending: call, at: id)
        stream.whenSettled { result in
            guard let attempt = unsafe self.links.endAttempt(number, at: id) else { return }
            switch result {
            case .success(let stream): self.connected(id, stream, for: attempt.resending)
            case .failure(let error): self.failedToConnect(id, error, for: attempt.resending)
            }
        }
    }

    private func connected(_ id: ConnectionID, _ stream: any ByteStream, for call: PendingCall?) {
        let connection = ClientConnection(
            id, on: stream, of: self, writer: writer, limits: settings.limits)
        unsafe links.setConnection(connection, at: id)
        connection.startReading()
        if let call {
            sendCall(call, on: id)
        } else {
            perform(unsafe machine.completeAttempt(id, at: loop.now))
            armExpiry()
        }
    }

    private func failedToConnect(_ id: ConnectionID, _ error: any Error, for call: PendingCall?) {
        let failure = error as? ClientFailure ?? .connect(.cancelled)
        if let call {
            call.fail(failure)
            perform(unsafe machine.removeConnection(id))
        } else {
            perform(unsafe machine.failAttempt(id, because: failure))
        }
    }

    // MARK: Expiry

    /// One timer for all idle connections, due for the oldest. It is not moved when that one is
    /// leased meanwhile: firing for nothing once in `idleTimeout` is cheaper.
    private func armExpiry() {
        guard expiry == nil, let due = unsafe machine.nextExpiry else { return }
        // Not weak, which would make every retain of this object a slow one; `deinit` cancels it.
        expiry = loop.timer(after: due - loop.now) { [unowned self] in expire() }
    }

    private func expire() {
        expiry = nil
        while let id = unsafe machine.expire(at: loop.now) { release(id) }
        armExpiry()
    }
}
