import HTTP

/// What a connection of HTTP/1.1 does next: events in, actions out, without sockets, clocks or
/// promises. Owned by its `ServerConnection`, which performs the actions.
///
///     idle -> head -> running -> responding (-> streaming, if the body is streamed)
///                                           -> idle
///                                           -> discarding -> idle     (a body was left over)
///                                           -> blocked -> idle        (the client does not read)
///                                           -> finishing -> lingering -> closed
///     idle -> yielding -> idle              (other connections first)
///
/// One request runs at a time, so that pipelined requests get their responses in order.
struct ServerStateMachine {
    enum State: Equatable {
        /// No request has begun, or the last one has ended.
        case idle
        /// A part of a head has arrived.
        case head
        /// The service works on the request, or a rejection is prepared.
        case running(RequestBodyState)
        /// The response is being written: whole, or only its head if its body is streamed.
        case responding(RequestBodyState)
        /// The head of the response was written, and its body follows piece by piece.
        case streaming(RequestBodyState, isBlocked: Bool)
        /// The response was written before the request's body had arrived: the rest is discarded. The
        /// client may not have taken all of the response.
        case discarding(isBlocked: Bool)
        /// The response was written, and the client has not taken all of it.
        case blocked
        /// More requests may have arrived; they wait for the next loop iteration.
        case yielding
        /// This side has ended; the client has not taken all output.
        case finishing
        /// All output was sent; the client may still send, until it ends too.
        case lingering
        case closed
    }

    /// Changed by transitions only.
    var state = State.idle
    /// Of the present request, or of the last one.
    var facts = Facts()
    var hadRequest = false
    private var lingersBriefly = false
    private var isReadingPaused = false
    private(set) var clientHasEnded = false
    /// The end of the client follows data that is not read yet.
    private(set) var isClientEndPending = false
    private(set) var isDraining = false

    var isClosed: Bool { state == .closed }

    /// Whether an exchange is running whose response has not begun.
    var isRunning: Bool { if case .running = state { true } else { false } }

    /// Whether the service has paused the body of the request, so that what arrives is stored.
    var isBodyPaused: Bool {
        switch state {
        case .running(let body), .streaming(let body, _): body == .paused
        case .idle, .head, .responding, .discarding, .blocked, .yielding, .finishing, .lingering,
            .closed:
            false
        }
    }

    var reading: Reading {
        switch state {
        case .idle, .head, .discarding: .consume
        case .running(let body), .streaming(let body, _):
            switch body {
            case .delivering: .consume
            case .broken: .drop
            case .complete, .arriving, .awaitingContinue, .paused, .cancelled: .keep
            }
        case .responding, .blocked, .yielding: .keep
        case .finishing, .lingering, .closed: .drop
        }
    }

    var wait: ConnectionWait? {
        switch state {
        case .idle: hadRequest ? .request : .firstRequest
        case .head: .head
        case .running(.delivering), .streaming(.delivering, isBlocked: false):
            facts.bodyIsTimed ? nil : .body
        case .discarding: .body
        case .running where mayBeGone: .probe
        case .running, .responding, .streaming(_, isBlocked: false), .yielding, .closed: nil
        case .streaming(_, isBlocked: true), .blocked, .finishing: .output
        case .lingering: lingersBriefly ? .briefLinger : .linger
        }
    }

    /// Whether the facts are possible in the state. For assertions.
    private var isConsistent: Bool {
        if isClientEndPending, !isReadingPaused { return false }
        if facts.isTunnel, facts.keepsAlive { return false }
        return switch state {
        // Another request follows only a response that kept the connection open.
        case .idle, .head, .yielding, .blocked:
            (!hadRequest || facts.keepsAlive) && !lingersBriefly
        case .discarding: hadRequest && facts.keepsAlive && !lingersBriefly
        case .running(let body): (hadRequest || body == .broken) && !lingersBriefly
        case .responding, .streaming: !lingersBriefly
        case .finishing, .lingering, .closed: true
        }
    }

    mutating func handle(_ event: Event) -> Action? {
        defer { assert(isConsistent, "the state does not agree with its facts") }
        switch event {
        case .headBegan: return headBegan()
        case .requestBegan(let facts): return requestBegan(facts)
        case .bodyDemandChanged(let demand): return bodyDemandChanged(demand)
        case .bodyEnded: return bodyEnded()
        case .bodyBroken(let error): return bodyBroken(error)
        case .discardedTooMuch: return discardedTooMuch()
        case .responseReady(let closesConnection): return responseReady(closesConnection)
        case .responseHeadSent: return responseHeadSent()
        case .tunnelHeadSent: return tunnelHeadSent()
        case .responseEnded(let waitsForClient): return responseEnded(waitsForClient)
        case .responseBroken: return responseBroken()
        case .outputBlocked: return outputBlocked()
        case .outputDrained: return outputDrained()
        case .rejected(let rejection): return reject(rejection)
        case .iterationUsedUp: return iterationUsedUp()
        case .iterationBegan: return iterationBegan()
        case .readingPaused: return readingChanges(isPaused: true)
        case .readingResumed: return readingChanges(isPaused: false)
        case .clientEnded: return clientEnded()
        case .clientEndPending: return clientEndPending()
        case .clientLost: return clientLost()
        case .deadlinePassed: return deadlinePassed()
        case .drainRequested(let isSettled): return drainRequested(isSettled)
        case .evicted(let isSettled): return leaveIdle(isSettled)
        }
    }
}

extension ServerStateMachine {
    private mutating func discardedTooMuch() -> Action? {
        if case .discarding = state { finish() } else { nil }
    }

    private mutating func iterationUsedUp() -> Action? {
        if state == .idle { state = .yielding }
        return nil
    }

    private mutating func iterationBegan() -> Action? {
        guard state == .yielding else { return nil }
        state = .idle
        return .readOn
    }

    private mutating func readingChanges(isPaused: Bool) -> Action? {
        isReadingPaused = isPaused
        // Reading finds it again.
        if !isPaused { isClientEndPending = false }
        return nil
    }

    /// Whether the loss of the client can be detected only by sending to it (`ServerConnection.probe`). Not
    /// while the client sends a body: it need not be ready to read then.
    private var mayBeGone: Bool {
        clientHasEnded || isClientEndPending || (isReadingPaused && state == .running(.complete))
    }

    private mutating func clientEnded() -> Action? {
        clientHasEnded = true
        switch state {
        case .idle, .discarding: return finish()
        case .head: return reject(.malformed(.cutShort))
        case .running(.delivering): return bodyBroken(.cutShort)
        // Earlier data of the client may be stored here, a whole body or further requests.
        case .running: return .probe
        case .streaming where facts.isTunnel:
            return changeBody { $0.end() } ? .endUpload : nil
        case .streaming: return abandon()
        case .responding, .blocked, .yielding, .finishing, .closed: return nil
        case .lingering: return close()
        }
    }

    /// What waits may be the rest of a body, or all of it with further requests.
    private mutating func clientEndPending() -> Action? {
        guard isReadingPaused else { return nil }
        isClientEndPending = true
        switch state {
        case .running: return .probe
        case .streaming: return facts.isTunnel ? nil : abandon()
        // The end of the response decides, or reading goes on.
        case .idle, .head, .responding, .discarding, .blocked, .yielding, .finishing, .lingering,
            .closed:
            return nil
        }
    }

    private mutating func clientLost() -> Action? {
        switch state {
        case .running, .responding, .streaming: return abandon()
        case .idle, .head, .discarding, .blocked, .yielding, .finishing, .lingering: return close()
        case .closed: return nil
        }
    }

    private mutating func deadlinePassed() -> Action? {
        switch state {
        case .idle, .discarding: return finish()
        case .head, .running(.delivering): return reject(.tooSlow)
        case .running where mayBeGone: return .probe
        case .streaming(.delivering, _), .streaming(_, isBlocked: true): return abandon()
        case .blocked, .finishing, .lingering: return close()
        case .running, .responding, .streaming, .yielding, .closed: return nil
        }
    }

    private mutating func drainRequested(_ isSettled: Bool) -> Action? {
        isDraining = true
        return leaveIdle(isSettled)
    }

    /// Ends an idle connection: at once if a reset cannot destroy a response any more (RFC 9112
    /// 9.6), else after a short linger.
    private mutating func leaveIdle(_ isSettled: Bool) -> Action? {
        guard state == .idle else { return nil }
        if isSettled { return close() }
        lingersBriefly = true
        return finish()
    }

    mutating func finish() -> Action? {
        assert(!isClosed && state != .finishing && state != .lingering, "a connection ends twice")
        state = .finishing
        // Further input is discarded, so there is always room for it.
        isReadingPaused = false
        isClientEndPending = false
        return .finish
    }

    mutating func abandon() -> Action? {
        assert(!isClosed, "a closed connection is abandoned")
        state = .closed
        return .abandon
    }

    mutating func close() -> Action? {
        assert(!isClosed, "a connection is closed twice")
        state = .closed
        return .close
    }
}
