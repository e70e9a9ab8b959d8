/// What one connection does next: events in, actions out, no idea of sockets, clocks or promises.
///
///     idle -> head -> running -> answered -> idle
///                                         -> discarding -> idle       (a body was left over)
///                                         -> blocked -> idle          (the client does not read)
///                                         -> yielding -> idle         (other connections first)
///                                         -> finishing -> lingering -> closed
///
/// One request runs at a time, so pipelined requests are answered in their order.
struct ServerStateMachine {
    enum Event: Equatable {
        /// The first bytes of a head came, and not its last.
        case headBegan
        /// A head is complete, and with it perhaps the body.
        case requestBegan(Facts)
        /// The service asks for the body.
        case bodyWanted
        /// The service does not want the body after all: it is too large.
        case bodyRefused
        /// The last byte of the body came.
        case bodyEnded
        /// More was read over than an unwanted body is worth.
        case discardedTooMuch
        /// The service has an answer.
        case answerReady
        /// The answer was written; perhaps the client has not taken all of it.
        case answerSent(waitsForClient: Bool)
        /// Something written has to wait for the client.
        case outputBlocked
        /// Everything written was taken.
        case outputDrained
        /// What came is no message of HTTP.
        case messageBroken
        /// What comes of the body that is waited for is no HTTP.
        case bodyBroken
        /// Enough requests of this connection were begun in this pass of the loop.
        case passUsedUp
        /// The next pass has begun.
        case passBegan
        /// The client sends no more.
        case clientEnded
        /// The connection is lost.
        case clientLost
        /// What `wait` waits for took too long.
        case deadlinePassed
        /// The server stops.
        ///
        /// - Parameter isSettled: nothing that was sent can be lost by a reset
        case drainRequested(isSettled: Bool)
        /// Others need the place of an idle connection.
        ///
        /// - Parameter isSettled: nothing that was sent can be lost by a reset
        case evicted(isSettled: Bool)
        /// There are too many connections; the client has been told.
        case turnedAway
    }

    /// What the machine needs to know of a request.
    struct Facts: Equatable {
        var keepsAlive = true
        var body = Arrival.complete
        /// Of a body that is small enough to be read over; false where it must not be.
        var bodyMayBeDiscarded = true
    }

    /// How a body stands when its request begins.
    enum Arrival: Equatable {
        /// There is none, or it is there already.
        case complete
        /// It is still coming.
        case arriving
        /// It comes when the client is told to go on.
        case awaitingContinue
    }

    enum Action: Equatable {
        /// Hand the request to the service.
        case serve
        /// Tell the client to send the body, then read it.
        case sendContinue
        /// Read on: the body, or the next request.
        case readOn
        /// Write the answer.
        case sendAnswer(keepsAlive: Bool)
        /// Give the request up, if one runs, and answer what was wrong; the connection ends.
        case refuse
        /// Tell the reader of the body that its rest cannot be read; its answer ends the connection.
        case rejectBody
        /// End our side and read over what still comes.
        case finish
        /// The client ended its side while its request runs: find out whether it is still there.
        case probe
        /// The client is gone: give the request up.
        case abandon
        case close
    }

    /// What to do with bytes that arrive.
    enum Reading: Equatable {
        /// Read messages from them.
        case consume
        /// Keep them for later.
        case keep
        case drop
    }

    /// What is waited for, each with its own time limit.
    enum Wait: Equatable {
        case firstRequest, request, head, body, client, output, linger, briefLinger

        /// Whether the connection is of no use to its client right now.
        var isIdle: Bool { self == .request || self == .firstRequest }
    }

    private enum State: Equatable {
        case idle
        case head
        case running(Body)
        /// The answer is being written.
        case answered(Body)
        case discarding
        case blocked
        /// More requests may be there; they wait for the next pass of the loop.
        case yielding
        case finishing
        case lingering
        case closed
    }

    private enum Body: Equatable {
        case complete
        case arriving
        case awaitingContinue
        case wanted
        case refused
        case broken
    }

    private var state = State.idle
    private var hadRequest = false
    private var lingersBriefly = false
    private var facts = Facts()
    private(set) var clientHasEnded = false
    /// The client sent so much ahead that nothing is read any more, and so its end is not seen.
    var isUnread = false
    private(set) var isDraining = false

    var isClosed: Bool { state == .closed }

    /// Whether a request is with the service.
    var isRunning: Bool { if case .running = state { true } else { false } }

    var reading: Reading {
        switch state {
        case .idle, .head, .running(.wanted), .discarding: .consume
        case .running(.broken): .drop
        case .running, .answered, .blocked, .yielding: .keep
        case .finishing, .lingering, .closed: .drop
        }
    }

    var wait: Wait? {
        switch state {
        case .idle: hadRequest ? .request : .firstRequest
        case .head: .head
        case .running(.wanted), .discarding: .body
        case .running where mayBeGone: .client
        case .running, .answered, .yielding, .closed: nil
        case .blocked, .finishing: .output
        case .lingering: lingersBriefly ? .briefLinger : .linger
        }
    }

    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .headBegan: return headBegan()
        case .requestBegan(let facts): return requestBegan(facts)
        case .bodyWanted: return bodyWanted()
        case .bodyRefused: return bodyRefused()
        case .bodyEnded: return bodyEnded()
        case .discardedTooMuch: return state == .discarding ? finish() : nil
        case .answerReady: return answerReady()
        case .answerSent(let waitsForClient): return answerSent(waitsForClient)
        case .outputBlocked: return outputBlocked()
        case .outputDrained: return outputDrained()
        case .messageBroken: return messageBroken()
        case .bodyBroken: return bodyBroken()
        case .passUsedUp: return passUsedUp()
        case .passBegan: return passBegan()
        case .clientEnded: return clientEnded()
        case .clientLost: return clientLost()
        case .deadlinePassed: return deadlinePassed()
        case .drainRequested(let isSettled): return drainRequested(isSettled)
        case .evicted(let isSettled): return leaveIdle(isSettled)
        case .turnedAway: return finish()
        }
    }
}

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
        switch state {
        case .running(.arriving):
            state = .running(.wanted)
            return .readOn
        case .running(.awaitingContinue):
            state = .running(.wanted)
            return .sendContinue
        default: return nil
        }
    }

    private mutating func bodyRefused() -> Action? {
        if state == .running(.wanted) { state = .running(.refused) }
        return nil
    }

    private mutating func bodyEnded() -> Action? {
        switch state {
        case .running(.wanted):
            state = .running(.complete)
            return nil
        case .discarding: return next()
        default: return nil
        }
    }

    private mutating func answerReady() -> Action? {
        guard case .running(let body) = state else { return nil }
        state = .answered(body)
        facts.keepsAlive = facts.keepsAlive && !isDraining && mayFollow(body)
        return .sendAnswer(keepsAlive: facts.keepsAlive)
    }

    /// Whether another request can be found behind this one. Not when a client that was never told
    /// to go on may or may not send its body (RFC 9110 10.1.1): then nobody knows what comes next.
    private func mayFollow(_ body: Body) -> Bool {
        switch body {
        case .complete: true
        case .awaitingContinue, .broken: false
        case .arriving, .wanted, .refused: facts.bodyMayBeDiscarded
        }
    }

    private mutating func answerSent(_ waitsForClient: Bool) -> Action? {
        guard case .answered(let body) = state else { return nil }
        guard facts.keepsAlive else { return finish() }
        if body != .complete {
            state = .discarding
            return .readOn
        }
        guard waitsForClient else { return next() }
        state = .blocked
        return nil
    }

    /// Back to where the next request is read, which may be there already.
    private mutating func next() -> Action? {
        state = .idle
        return isDraining ? finish() : .readOn
    }

    /// The answer was offered after it was written: only now is it known that it waits.
    private mutating func outputBlocked() -> Action? {
        if state == .idle || state == .yielding { state = .blocked }
        return nil
    }

    private mutating func outputDrained() -> Action? {
        switch state {
        case .blocked: return next()
        case .finishing where clientHasEnded: return close()
        case .finishing:
            state = .lingering
            return nil
        case .idle, .head, .running, .answered, .discarding, .yielding, .lingering, .closed:
            return nil
        }
    }

    private mutating func passUsedUp() -> Action? {
        if state == .idle { state = .yielding }
        return nil
    }

    private mutating func passBegan() -> Action? {
        guard state == .yielding else { return nil }
        state = .idle
        return .readOn
    }

    /// Whether nothing but a question shows that the client still waits. Not of one that is still
    /// sending a body: it need not be ready to read interim answers.
    private var mayBeGone: Bool {
        clientHasEnded || (isUnread && state == .running(.complete))
    }

    private mutating func messageBroken() -> Action? {
        switch state {
        case .idle, .head, .running:
            state = .finishing
            return .refuse
        case .discarding: return finish()
        case .answered, .blocked, .yielding, .finishing, .lingering, .closed: return nil
        }
    }

    /// The refusal belongs to the reader of the body, so that it can be held back like its other
    /// answers.
    private mutating func bodyBroken() -> Action? {
        guard state == .running(.wanted) else { return messageBroken() }
        state = .running(.broken)
        return .rejectBody
    }

    private mutating func clientEnded() -> Action? {
        clientHasEnded = true
        switch state {
        case .idle: return finish()
        case .head: return messageBroken()
        case .running(.wanted): return bodyBroken()
        // What it sent before may be waiting here, a whole body or further requests.
        case .running: return .probe
        case .answered, .blocked, .yielding, .finishing: return nil
        case .discarding: return finish()
        case .lingering: return close()
        case .closed: return nil
        }
    }

    private mutating func clientLost() -> Action? {
        let wasRunning = isRunning
        guard state != .closed else { return nil }
        state = .closed
        return wasRunning ? .abandon : .close
    }

    private mutating func deadlinePassed() -> Action? {
        switch state {
        case .idle: return finish()
        case .head, .running(.wanted): return messageBroken()
        case .running where mayBeGone: return .probe
        case .discarding: return finish()
        case .blocked, .finishing, .lingering: return close()
        case .running, .answered, .yielding, .closed: return nil
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
        return .finish
    }

    private mutating func close() -> Action? {
        state = .closed
        return .close
    }
}
