import HTTP
import HTTP2

/// What a call over HTTP/2 does next, from its request to the end of its stream: events in, actions out, without
/// sessions, clocks or promises. Owned by its `H2ClientStream`, which performs the actions.
///
///     running -> over
///             -> unread -> over     (the call has ended, and its stream has not)
struct H2CallMachine {
    private enum State {
        case running
        /// What still arrives on the stream has no receiver.
        case unread
        case over
    }

    private var state = State.running
    /// The end of the request was sent.
    private var hasSentRequest = false
    /// The head of the final response arrived.
    private var hasReceivedHead = false
    private var interimResponses = 0
    private let interimResponsesMax: Int
    /// A response on this connection was complete before.
    let reusesConnection: Bool

    /// The body of the response goes to its user while it arrives.
    private let isStreamed: Bool
    /// The user of the response does not take its body.
    private var isPaused = false
    /// Received bytes that the user has not taken.
    private var untakenBytes = 0
    /// Bytes that the user has taken, until the window grows.
    private var takenBytes = 0
    private var hasGrownWindow = false

    init(isStreamed: Bool, reusesConnection: Bool, interimResponsesMax: Int) {
        self.isStreamed = isStreamed
        self.reusesConnection = reusesConnection
        self.interimResponsesMax = interimResponsesMax
    }

    /// Whether a running call gives credit for what its user takes, and for nothing else. For assertions.
    private var isConsistent: Bool {
        guard untakenBytes >= 0, takenBytes >= 0 else { return false }
        return state != .running || untakenBytes == 0 || isPaused
    }

    mutating func handle(_ event: Event) -> Action? {
        defer { assert(isConsistent, "a paused body has credit") }
        switch event {
        case .requestSent:
            hasSentRequest = true
            return nil
        case .responseEnded: return responseEnded()
        case .callCancelled(let isTimedOut): return endEarly(testsConnection: isTimedOut)
        case .callFailed: return endEarly(testsConnection: false)
        case .readingPaused:
            isPaused = true
            return nil
        case .readingResumed: return readingResumed()
        case .resetDue: return leave(.reset)
        case .streamClosed(let code, let facts): return streamClosed(code, facts)
        case .connectionEnded(let cause, let failure, let facts):
            return leave(.leave(outcome(cause, failure, facts)))
        case .callDropped: return leave(.leave(nil))
        }
    }

    // MARK: The response

    /// A head has arrived.
    mutating func receiveHead(isInterim: Bool) -> HeadUse {
        guard state == .running else { return .drop }
        guard isInterim else {
            hasReceivedHead = true
            return .take
        }
        interimResponses += 1
        return interimResponses <= interimResponsesMax ? .takeInterim : .refuse
    }

    private mutating func responseEnded() -> Action? {
        guard state == .running else { return nil }
        // RFC 9113 8.1: the backend does not need the rest of the request.
        state = hasSentRequest ? .over : .unread
        return .complete(endsStream: hasSentRequest)
    }

    /// The call has ended, and the stream has not.
    private mutating func endEarly(testsConnection: Bool) -> Action? {
        guard state == .running else { return nil }
        state = .unread
        return .endEarly(testsConnection: testsConnection)
    }

    // MARK: Credit

    /// A piece of the body has arrived, and the call has taken it.
    mutating func receive(_ count: Int) -> Credit {
        defer { assert(isConsistent, "a paused body has credit") }
        guard state == .running else { return .connection }
        guard !isPaused else {
            // Only its own window closes: other calls need the one of the connection.
            untakenBytes += count
            return .connection
        }
        return .stream(growsWindow: isStreamed && userTook(count))
    }

    private mutating func readingResumed() -> Action? {
        guard isPaused else { return nil }
        isPaused = false
        guard state == .running, untakenBytes > 0 else { return nil }
        let count = untakenBytes
        untakenBytes = 0
        return .returnCredit(count, growsWindow: userTook(count))
    }

    /// Whether the window of the stream grows: once, and only for a user that keeps taking the body. What a slow user
    /// does not take has to be buffered.
    private mutating func userTook(_ count: Int) -> Bool {
        guard !hasGrownWindow else { return false }
        takenBytes += count
        hasGrownWindow = takenBytes >= Self.growingBytes
        return hasGrownWindow
    }

    /// What the user has to take before the window grows, in bytes.
    ///
    /// 128 KiB: one that takes nothing pauses earlier.
    private static let growingBytes = 128 * 1024

    // MARK: The end

    private mutating func leave(_ action: Action) -> Action? {
        guard state != .over else { return nil }
        state = .over
        return action
    }

    private mutating func streamClosed(_ code: H2Code, _ facts: Facts) -> Action? {
        let closing: Closing =
            if facts.isMalformed {
                .malformed
            } else {
                code == .refusedStream && !hasReceivedHead && facts.hasSentHead ? .refused : .other
            }
        return leave(.close(closing, outcome(code, closing, facts)))
    }

    /// The result of a call whose stream was closed; nil if it has one.
    private func outcome(_ code: H2Code, _ closing: Closing, _ facts: Facts) -> Outcome? {
        guard state == .running else { return nil }
        if closing == .malformed { return .fail(malformed(facts.fault)) }
        // RFC 9113 8.7: the backend has not processed the request.
        if closing == .refused || !facts.hasSentHead { return .resendUnprocessed(.refused) }
        if code == .http11Required, !hasReceivedHead { return .resendOverHTTP1 }
        return .fail(
            .lost(.reset(code.number), responseHasBegun: hasReceivedHead),
            pausesConnecting: code == .enhanceYourCalm)
    }

    /// The result of a call whose connection has ended; nil if it has one.
    private func outcome(
        _ cause: ClientFailure.Cause, _ failure: ClientFailure?, _ facts: Facts
    ) -> Outcome? {
        guard state == .running else { return nil }
        guard facts.hasSentHead else { return .resendUnprocessed(cause) }
        // Its malformed response arrived together with the end of the connection.
        if facts.isMalformed { return .fail(malformed(facts.fault)) }
        if let failure { return .fail(failure) }
        let lost = ClientFailure.lost(cause, responseHasBegun: hasReceivedHead)
        return reusesConnection && !hasReceivedHead ? .resendLost(lost) : .fail(lost)
    }

    /// The backend has sent a malformed response.
    private func malformed(_ fault: WireError?) -> ClientFailure {
        if let fault, !hasReceivedHead { return .head(fault) }
        return ClientFailure(
            .protocolError, fault.map(ClientFailure.Cause.wire) ?? .frames, wasSent: true)
    }
}
