import HTTP
import HTTP2

/// What a request over HTTP/2 does next, from its head to the end of its stream: events in, actions out, without
/// sessions, clocks or promises. Owned by its `H2ServerStream`, which performs the actions.
///
///     request:   RequestBodyState
///     response:  nil -> complete, streamed, tunnel
///
/// Both sides go on independently (RFC 9113 5.1), until the end of the response or of the stream.
struct H2StreamMachine {
    private(set) var body = RequestBodyState.arriving
    /// Nil until the final response begins; from then on nothing is rejected.
    private(set) var response: ResponseForm?
    private var isOver = false
    private var clientHasEnded: Bool
    /// The service starts to read, and gets nothing before its call has returned.
    private var isStarting = false
    /// The reader of the body itself limits the time for it.
    private var isTimed = false
    /// Bytes of the body that the service does not read yet.
    private(set) var storedBytes = 0
    /// Bytes of the body that have arrived.
    private(set) var receivedBytes = 0

    /// - Parameter endsStream: the client has ended its side with the head
    init(endsStream: Bool) { clientHasEnded = endsStream }

    // MARK: State

    /// Whether stored bytes are not needed any more.
    var dropsStored: Bool { body == .cancelled || body == .broken }

    /// Whether the body has a time limit at present.
    var limitsBodyTime: Bool { body == .delivering && !clientHasEnded && !isTimed }

    /// Whether it stores a part of a body that the service has paused.
    var holdsPausedBody: Bool { body == .paused && storedBytes > 0 }

    /// What the client has to do for the exchange; nil if nothing.
    var awaitedFromClient: ClientPart? {
        guard response == nil else { return .response }
        // What is stored has arrived, and waits for its reader.
        return body == .delivering && !clientHasEnded && storedBytes == 0 ? .body : nil
    }

    /// Whether the client may get that interim response: RFC 9113 8.6, HTTP/2 has no 101.
    func allowsInterim(_ status: Status) -> Bool { response == nil && status.code != 101 }

    /// Whether bytes are stored for a reader only. For assertions.
    private var isConsistent: Bool {
        guard storedBytes >= 0, storedBytes <= receivedBytes else { return false }
        if isOver, body != .broken { return false }
        switch body {
        case .complete, .cancelled, .broken: return storedBytes == 0
        case .arriving, .awaitingContinue, .delivering, .paused: return true
        }
    }

    // MARK: The request

    /// All bytes that arrived together with the head are read.
    mutating func begin(_ facts: Facts) -> Content {
        // What the client sends belongs to the tunnel, and waits until that exists.
        if facts.isTunnel { return .empty }
        guard hasWholeBody(facts) else {
            if facts.expectsContinue, receivedBytes == 0 { body = .awaitingContinue }
            return .streamed
        }
        body = .complete
        storedBytes = 0
        return .stored
    }

    /// Whether all of the body arrived together with the head. An empty one without a stated length stays a
    /// stream, so that a backend sees its end where the client has put it: after the head. Servers of gRPC
    /// depend on it. So does one with trailers: only the end of a source carries them.
    private func hasWholeBody(_ facts: Facts) -> Bool {
        clientHasEnded && !facts.hasTrailers && (storedBytes > 0 || facts.statesLength)
    }

    /// A piece of the body has arrived.
    mutating func receive(_ count: Int) -> PieceUse {
        defer { assert(isConsistent, "bytes are stored for no reader") }
        receivedBytes += count
        switch body {
        case .delivering where storedBytes == 0 && !isStarting: return .deliver
        case .arriving, .awaitingContinue, .delivering, .paused:
            // RFC 9110 10.1.1: its client does not wait.
            if body == .awaitingContinue { body = .arriving }
            storedBytes += count
            return .store
        case .complete, .cancelled, .broken: return .drop
        }
    }

    mutating func handle(_ event: Event) -> Action? {
        if isOver { return nil }
        defer { assert(isConsistent, "bytes are stored for no reader") }
        switch event {
        case .headRejected: return dropBody(nil)
        case .clientEnded:
            clientHasEnded = true
            return endBody()
        case .bodyDemandChanged(let demand): return bodyDemandChanged(demand)
        case .deliveryBegan:
            isStarting = false
            return deliver()
        case .storedDelivered: return endBody()
        case .responseReady(let form): return responseReady(form)
        case .responseBroken: return .reset(codeOfBreak)
        case .responseSent: return end(.endExchange)
        case .deadlinePassed: return deadlinePassed()
        case .memoryShort: return memoryShort()
        case .waitingEnded:
            return response == nil ? reject(.overloaded(nil), isCharged: true) : .endSlowExchange
        case .clientLost(let hasSentBody, let status):
            return end(isCutOff(hasSentBody) ? .cutOffResponse : .cancelExchange(status: status))
        }
    }

    private mutating func bodyDemandChanged(_ demand: BodyDemand) -> Action? {
        let isAwaited = body == .awaitingContinue && response == nil
        guard body.handle(demand) else { return nil }
        switch demand {
        case .started(let isTimed):
            self.isTimed = isTimed
            isStarting = true
            return .beginDelivery(sendsContinue: isAwaited, growsWindow: isTimed)
        case .resumed: return deliver()
        case .paused: return nil
        case .cancelled:
            storedBytes = 0
            return nil
        }
    }

    /// Passes on what is stored, then pieces as they arrive.
    private mutating func deliver() -> Action? {
        guard body == .delivering, !isStarting, storedBytes > 0 else { return endBody() }
        storedBytes = 0
        return .deliverStored
    }

    /// Ends the body if all of it was passed on.
    private mutating func endBody() -> Action? {
        guard clientHasEnded, storedBytes == 0, !isStarting, body.end() else { return nil }
        return .endBody
    }

    /// The rest of the body is not needed, because of that action.
    private mutating func dropBody(_ action: Action?) -> Action? {
        body = .broken
        storedBytes = 0
        return action
    }

    // MARK: The response

    private mutating func responseReady(_ form: ResponseForm) -> Action? {
        guard response == nil else { return nil }
        response = form
        return .sendResponse
    }

    private mutating func reject(_ rejection: Rejection, isCharged: Bool = false) -> Action? {
        guard body != .broken else { return nil }
        return dropBody(.reject(rejection, isCharged: isCharged))
    }

    private mutating func deadlinePassed() -> Action? {
        response == nil ? reject(.tooSlow, isCharged: true) : .reset(.cancel, isCharged: true)
    }

    private mutating func memoryShort() -> Action? {
        guard let response else { return reject(.overloaded(.bufferedBytes)) }
        return dropBody(.reset(codeOfBreak, response == .complete ? nil : .memoryLimit))
    }

    /// RFC 8441 5: CANCEL is the reset of a tunnel's connection.
    private var codeOfBreak: H2Code { response == .tunnel ? .cancel : .internalError }

    /// Whether a part of the response was sent, and the rest is missing.
    private func isCutOff(_ hasSentBody: Bool) -> Bool {
        switch response {
        case .streamed, .tunnel: true
        case .complete, nil: hasSentBody
        }
    }

    private mutating func end(_ action: Action) -> Action? {
        assert(!isOver, "a stream ends twice")
        isOver = true
        return dropBody(action)
    }
}
