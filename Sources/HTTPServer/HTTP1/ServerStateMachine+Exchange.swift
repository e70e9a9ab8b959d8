import HTTP

/// The transitions of an exchange, for its request and its response.
extension ServerStateMachine {
    // MARK: The request

    mutating func headBegan() -> Action? {
        if state == .idle { state = .head }
        return nil
    }

    mutating func requestBegan(_ facts: Facts) -> Action? {
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

    mutating func bodyDemandChanged(_ demand: BodyDemand) -> Action? {
        if case .started(let isTimed) = demand { facts.bodyIsTimed = isTimed }
        // Behind the head of the final response, `100 Continue` cannot be sent any more.
        if case .streaming(.awaitingContinue, _) = state { return nil }
        let mustContinue = state == .running(.awaitingContinue)
        guard changeBody({ $0.handle(demand) }) else { return nil }
        switch demand {
        case .started: return mustContinue ? .sendContinue : .readOn
        case .resumed: return .readOn
        case .paused, .cancelled: return nil
        }
    }

    mutating func bodyEnded() -> Action? {
        if case .discarding(let isBlocked) = state {
            guard isBlocked else { return awaitNextRequest() }
            state = .blocked
            return nil
        }
        _ = changeBody { $0.end() }
        return nil
    }

    /// The reader of the body responds with the rejection, so that it is padded like its other
    /// responses.
    mutating func bodyBroken(_ error: WireError) -> Action? {
        changeBody { $0.fail() } ? .failBody(error) : reject(.malformed(error))
    }

    /// Changes the state of the present body; false if there is no change, or no body that may be read.
    mutating func changeBody(_ transition: (inout RequestBodyState) -> Bool) -> Bool {
        let hasChanged: Bool
        switch state {
        case .running(var body):
            hasChanged = transition(&body)
            state = .running(body)
        case .streaming(var body, let isBlocked):
            hasChanged = transition(&body)
            state = .streaming(body, isBlocked: isBlocked)
        case .idle, .head, .responding, .discarding, .blocked, .yielding, .finishing, .lingering,
            .closed:
            hasChanged = false
        }
        return hasChanged
    }

    /// A rejection is the last response of its connection, since further input has no meaning.
    mutating func reject(_ rejection: Rejection) -> Action? {
        switch state {
        case .running(.broken): return nil
        case .idle, .head, .running:
            state = .running(.broken)
            return .reject(rejection)
        case .discarding: return finish()
        case .streaming: return abandon()
        case .responding, .blocked, .yielding, .finishing, .lingering, .closed: return nil
        }
    }

    // MARK: The response

    mutating func responseReady(_ closesConnection: Bool) -> Action? {
        guard case .running(let body) = state else { return nil }
        state = .responding(body)
        facts.keepsAlive = facts.keepsAlive && !closesConnection && !isDraining && mayFollow(body)
        return .sendResponse(keepsAlive: facts.keepsAlive)
    }

    /// Whether another request can follow this one. Not after a body that the client may or may not
    /// send, because it got no `100 Continue` (RFC 9110 10.1.1): further input would be ambiguous.
    private func mayFollow(_ body: RequestBodyState) -> Bool {
        switch body {
        case .complete: true
        case .awaitingContinue, .broken: false
        case .arriving, .delivering, .paused, .cancelled: facts.bodyMayBeDiscarded
        }
    }

    mutating func responseHeadSent() -> Action? {
        guard case .responding(let body) = state else { return nil }
        // A client that half-closed counts as gone: after the head nothing can probe it.
        guard !clientHasEnded, !isClientEndPending else { return abandon() }
        state = .streaming(body, isBlocked: false)
        return .startBody
    }

    /// From now on the bytes of the connection are not HTTP, and no request follows.
    mutating func tunnelHeadSent() -> Action? {
        guard case .responding = state else { return nil }
        facts.isTunnel = true
        facts.keepsAlive = false
        state = .streaming(.arriving, isBlocked: false)
        return .startTunnel
    }

    mutating func responseEnded(_ waitsForClient: Bool) -> Action? {
        let body: RequestBodyState
        switch state {
        case .responding(let present), .streaming(let present, _): body = present
        case .idle, .head, .running, .discarding, .blocked, .yielding, .finishing, .lingering,
            .closed:
            return nil
        }
        guard facts.keepsAlive, body != .broken else { return finish() }
        if body != .complete {
            state = .discarding(isBlocked: waitsForClient)
            return .readOn
        }
        guard waitsForClient else { return awaitNextRequest() }
        state = .blocked
        return nil
    }

    /// Ends the response without its last byte, so that it never looks complete.
    mutating func responseBroken() -> Action? {
        guard case .streaming = state else { return nil }
        return abandon()
    }

    /// Waits for the next request, which may have arrived already.
    private mutating func awaitNextRequest() -> Action? {
        state = .idle
        return isDraining ? finish() : .readOn
    }

    /// Small writes are handed to the kernel later, so blocked output may be reported after the
    /// response.
    mutating func outputBlocked() -> Action? {
        switch state {
        case .idle, .yielding: state = .blocked
        case .streaming(let body, _): state = .streaming(body, isBlocked: true)
        case .discarding: state = .discarding(isBlocked: true)
        case .head, .running, .responding, .blocked, .finishing, .lingering, .closed:
            break
        }
        return nil
    }

    mutating func outputDrained() -> Action? {
        switch state {
        case .blocked: return awaitNextRequest()
        case .streaming(let body, _):
            state = .streaming(body, isBlocked: false)
            return .resumeBody
        case .discarding:
            state = .discarding(isBlocked: false)
            return nil
        case .finishing where clientHasEnded: return close()
        case .finishing:
            state = .lingering
            return nil
        case .idle, .head, .running, .responding, .yielding, .lingering, .closed: return nil
        }
    }
}
