import HTTP

/// What a connection of HTTP/1.1 does next: events in, actions out, without sockets, clocks or
/// promises. Owned by its `ServerConnection`, which performs the actions.
///
///     idle -> head -> running -> responding -> idle
///                                           -> relaying -> as after responding   (streamed)
///                                           -> discarding -> idle     (a body was left over)
///                                           -> blocked -> idle        (the client does not read)
///                                           -> yielding -> idle       (other connections first)
///                                           -> finishing -> lingering -> closed
///
/// One request runs at a time, so that pipelined requests are answered in their order.
struct ServerStateMachine {
    private enum State: Equatable {
        case idle
        case head
        /// The service works on the request, or a rejection is on its way.
        case running(RequestBody)
        /// The response is being written, all of it unless its body is streamed.
        case responding(RequestBody)
        /// The head of the response was written, and its body follows piece by piece.
        case relaying(RequestBody, isBlocked: Bool)
        case discarding
        case blocked
        /// More requests may be there; they wait for the next pass of the loop.
        case yielding
        case finishing
        case lingering
        case closed
    }

    /// How the body of the present request stands.
    private enum RequestBody: Equatable {
        case complete
        case arriving
        case awaitingContinue
        case wanted
        case paused
        case refused
        case broken
    }

    private var state = State.idle
    private var hadRequest = false
    private var lingersBriefly = false
    private var facts = Facts()
    private var isReadingPaused = false
    private(set) var clientHasEnded = false
    private(set) var isDraining = false

    var isClosed: Bool { state == .closed }

    /// Whether an exchange has begun whose response has not.
    var isRunning: Bool { if case .running = state { true } else { false } }

    var reading: Reading {
        switch state {
        case .idle, .head, .discarding: .consume
        case .running(let body), .relaying(let body, _):
            switch body {
            case .wanted: .consume
            case .broken: .drop
            case .complete, .arriving, .awaitingContinue, .paused, .refused: .keep
            }
        case .responding, .blocked, .yielding: .keep
        case .finishing, .lingering, .closed: .drop
        }
    }

    var wait: Wait? {
        switch state {
        case .idle: hadRequest ? .request : .firstRequest
        case .head: .head
        case .running(.wanted), .relaying(.wanted, isBlocked: false), .discarding: .body
        case .running where mayBeGone: .client
        case .running, .responding, .relaying(_, isBlocked: false), .yielding, .closed: nil
        case .relaying(_, isBlocked: true), .blocked, .finishing: .output
        case .lingering: lingersBriefly ? .briefLinger : .linger
        }
    }

    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .headBegan: return headBegan()
        case .requestBegan(let facts): return requestBegan(facts)
        case .bodyWanted: return bodyWanted()
        case .bodyPaused: return bodyChanges(from: .wanted, to: .paused, nil)
        case .bodyResumed: return bodyChanges(from: .paused, to: .wanted, .readOn)
        case .bodyRefused: return bodyRefused()
        case .bodyEnded: return bodyEnded()
        case .bodyBroken(let error): return bodyBroken(error)
        case .discardedTooMuch: return state == .discarding ? finish() : nil
        case .responseReady(let isLast): return responseReady(isLast)
        case .responseHeadSent: return responseHeadSent()
        case .responseEnded(let waitsForClient): return responseEnded(waitsForClient)
        case .responseBroken: return responseBroken()
        case .outputBlocked: return outputBlocked()
        case .outputDrained: return outputDrained()
        case .rejected(let rejection): return reject(rejection)
        case .passUsedUp: return passUsedUp()
        case .passBegan: return passBegan()
        case .readingPaused: return readingChanges(isPaused: true)
        case .readingResumed: return readingChanges(isPaused: false)
        case .clientEnded: return clientEnded()
        case .clientLost: return clientLost()
        case .deadlinePassed: return deadlinePassed()
        case .drainRequested(let isSettled): return drainRequested(isSettled)
        case .evicted(let isSettled): return leaveIdle(isSettled)
        }
    }
}

// MARK: The request

extension ServerStateMachine {
    private mutating func headBegan() -> Action? {
        if state == .idle { state = .head }
        return nil
    }

    private mutating func requestBegan(_ facts: Facts) -> Action? {
        guard state == .idle || state == .head else { return nil }
        self.facts = facts
        hadRequest = true
        switch facts.body {
        case .complete: state = .running(.complete)
        case .arriving: state = .running(.arriving)
        case .awaitingContinue: state = .running(.awaitingContinue)
        }
        return .serve
    }

    private mutating func bodyWanted() -> Action? {
        // Behind the head of the final response, `100 Continue` cannot be sent any more.
        if state == .running(.awaitingContinue) {
            state = .running(.wanted)
            return .sendContinue
        }
        return bodyChanges(from: .arriving, to: .wanted, .readOn)
    }

    private mutating func bodyRefused() -> Action? {
        _ = bodyChanges(from: .wanted, to: .refused, nil)
        return bodyChanges(from: .paused, to: .refused, nil)
    }

    private mutating func bodyEnded() -> Action? {
        if state == .discarding { return next() }
        return bodyChanges(from: .wanted, to: .complete, nil)
    }

    /// The rejection belongs to the reader of the body, so that it can be held back like its other
    /// responses.
    private mutating func bodyBroken(_ error: WireError) -> Action? {
        guard let action = bodyChanges(from: .wanted, to: .broken, .failBody(error)) else {
            return reject(.malformed(error))
        }
        return action
    }

    /// The body of a request whose exchange runs goes from one state to another; gives the action if
    /// it was in the first one.
    private mutating func bodyChanges(
        from former: RequestBody, to body: RequestBody, _ action: Action?
    ) -> Action? {
        switch state {
        case .running(former): state = .running(body)
        case .relaying(former, let isBlocked): state = .relaying(body, isBlocked: isBlocked)
        case .idle, .head, .running, .responding, .relaying, .discarding, .blocked, .yielding,
            .finishing, .lingering, .closed:
            return nil
        }
        return action
    }

    /// A rejection is the last response of its connection, since the rest of what comes has no
    /// meaning.
    private mutating func reject(_ rejection: Rejection) -> Action? {
        switch state {
        case .running(.broken): return nil
        case .idle, .head, .running:
            state = .running(.broken)
            return .reject(rejection)
        case .discarding: return finish()
        case .relaying: return abandon()
        case .responding, .blocked, .yielding, .finishing, .lingering, .closed: return nil
        }
    }
}

// MARK: The response

extension ServerStateMachine {
    private mutating func responseReady(_ isLast: Bool) -> Action? {
        guard case .running(let body) = state else { return nil }
        state = .responding(body)
        facts.keepsAlive = facts.keepsAlive && !isLast && !isDraining && mayFollow(body)
        return .sendResponse(keepsAlive: facts.keepsAlive)
    }

    /// Whether another request can be found behind this one. Not after a body that the client may or
    /// may not send, because it got no `100 Continue` (RFC 9110 10.1.1): what comes next would be
    /// ambiguous.
    private func mayFollow(_ body: RequestBody) -> Bool {
        switch body {
        case .complete: true
        case .awaitingContinue, .broken: false
        case .arriving, .wanted, .paused, .refused: facts.bodyMayBeDiscarded
        }
    }

    private mutating func responseHeadSent() -> Action? {
        guard case .responding(let body) = state else { return nil }
        // A client that ended its side counts as gone: no interim response can probe it any more.
        guard !clientHasEnded else { return abandon() }
        state = .relaying(body, isBlocked: false)
        return .startRelay
    }

    private mutating func responseEnded(_ waitsForClient: Bool) -> Action? {
        let body: RequestBody
        switch state {
        case .responding(let present), .relaying(let present, _): body = present
        case .idle, .head, .running, .discarding, .blocked, .yielding, .finishing, .lingering,
            .closed:
            return nil
        }
        guard facts.keepsAlive, body != .broken else { return finish() }
        if body != .complete {
            state = .discarding
            return .readOn
        }
        guard waitsForClient else { return next() }
        state = .blocked
        return nil
    }

    /// Without its last byte, so that the response never looks complete.
    private mutating func responseBroken() -> Action? {
        guard case .relaying = state else { return nil }
        return abandon()
    }

    /// Back to where the next request is read, which may be there already.
    private mutating func next() -> Action? {
        state = .idle
        return isDraining ? finish() : .readOn
    }

    /// Small writes are offered after they were made: only now is it known that they wait.
    private mutating func outputBlocked() -> Action? {
        switch state {
        case .idle, .yielding: state = .blocked
        case .relaying(let body, _): state = .relaying(body, isBlocked: true)
        case .head, .running, .responding, .discarding, .blocked, .finishing, .lingering, .closed:
            break
        }
        return nil
    }

    private mutating func outputDrained() -> Action? {
        switch state {
        case .blocked: return next()
        case .relaying(let body, _):
            state = .relaying(body, isBlocked: false)
            return .resumeRelay
        case .finishing where clientHasEnded: return close()
        case .finishing:
            state = .lingering
            return nil
        case .idle, .head, .running, .responding, .discarding, .yielding, .lingering, .closed:
            return nil
        }
    }
}

// MARK: The connection

extension ServerStateMachine {
    private mutating func passUsedUp() -> Action? {
        if state == .idle { state = .yielding }
        return nil
    }

    private mutating func passBegan() -> Action? {
        guard state == .yielding else { return nil }
        state = .idle
        return .readOn
    }

    private mutating func readingChanges(isPaused: Bool) -> Action? {
        isReadingPaused = isPaused
        return nil
    }

    /// Whether only an interim response can show that the client still waits. Not of one that is still
    /// sending a body: it need not be ready to read interim responses.
    private var mayBeGone: Bool {
        clientHasEnded || (isReadingPaused && state == .running(.complete))
    }

    private mutating func clientEnded() -> Action? {
        clientHasEnded = true
        switch state {
        case .idle, .discarding: return finish()
        case .head: return reject(.malformed(.cutShort))
        case .running(.wanted): return bodyBroken(.cutShort)
        // What it sent before may be waiting here, a whole body or further requests.
        case .running: return .probe
        case .relaying: return abandon()
        case .responding, .blocked, .yielding, .finishing, .closed: return nil
        case .lingering: return close()
        }
    }

    private mutating func clientLost() -> Action? {
        switch state {
        case .running, .responding, .relaying: return abandon()
        case .idle, .head, .discarding, .blocked, .yielding, .finishing, .lingering: return close()
        case .closed: return nil
        }
    }

    private mutating func deadlinePassed() -> Action? {
        switch state {
        case .idle, .discarding: return finish()
        case .head, .running(.wanted): return reject(.tooSlow)
        case .running where mayBeGone: return .probe
        case .relaying(.wanted, _), .relaying(_, isBlocked: true): return abandon()
        case .blocked, .finishing, .lingering: return close()
        case .running, .responding, .relaying, .yielding, .closed: return nil
        }
    }

    private mutating func drainRequested(_ isSettled: Bool) -> Action? {
        isDraining = true
        return leaveIdle(isSettled)
    }

    /// Ends an idle connection: at once if it has been idle for so long that a reset can take nothing
    /// away (RFC 9112 9.6), else the client is given a moment.
    private mutating func leaveIdle(_ isSettled: Bool) -> Action? {
        guard state == .idle else { return nil }
        if isSettled { return close() }
        lingersBriefly = true
        return finish()
    }

    private mutating func finish() -> Action? {
        state = .finishing
        // What still comes is discarded, so there is always room for it.
        isReadingPaused = false
        return .finish
    }

    private mutating func abandon() -> Action? {
        state = .closed
        return .abandon
    }

    private mutating func close() -> Action? {
        state = .closed
        return .close
    }
}
