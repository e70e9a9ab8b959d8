import Basics
import HTTP
import Reactor

/// The client's side of one HTTP/1.1 connection: what its bytes mean and what they may be used for.
///
/// Events in, actions out. One request at a time, because pipelining cannot be trusted (RFC 9112
/// 9.3.2). A connection may be used again only if its response is complete, the request was sent
/// completely, nothing follows the response, and neither side asked to close. Anything else retires
/// it: bytes that belong to no request would be taken for the response to the next one.
struct ClientStateMachine {
    enum Action {
        /// Wait for more bytes.
        case nothing
        /// The head of the response. Its body follows, then `end`.
        case head(ResponseHead)
        /// These of the received bytes are the next piece of the body.
        case body(Range<Int>)
        /// These of the received bytes are the next piece of the trailer section.
        case trailers(Range<Int>)
        /// The body is complete, and so is the call; the connection may be used again, or must be
        /// closed.
        case end(isReusable: Bool)
        /// The call failed; the connection must be closed. The request may be sent once more, if it
        /// never left or its method allows that: the connection was a reused one, and no byte of the
        /// response came.
        case fail(ClientFailure, mayResend: Bool)
        /// No call is concerned; the connection must be closed.
        case retire
    }

    /// How much of the request has been offered to the network by now.
    enum SendProgress {
        /// Nothing: the backend cannot know of it.
        case none
        case some, all
    }

    private enum State {
        case idle
        /// A request was written.
        case requested
        /// The head of its response arrived.
        case responding(keepsAlive: Bool)
        case closed
    }

    private var state = State.idle
    private var reader: ResponseReader

    /// Whether anything arrived since the request was written.
    private var hasReceived = false
    /// Whether an earlier response on this connection was complete.
    private var isReused = false

    init(limits: Limits) {
        reader = ResponseReader(limits: limits)
    }

    /// A request is about to be written. The connection must be idle.
    mutating func beginRequest(_ method: Method) {
        state = .requested
        hasReceived = false
        reader.answersHead = method == .head
    }

    /// The next event in the received bytes from `position` on; moves the position behind it. To be
    /// repeated until it is none of `head`, `body` and `trailers`. So much of the request has left by
    /// now.
    mutating func receive(
        _ bytes: Span<UInt8>, from position: inout Int, sendProgress: SendProgress
    ) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        // Whatever this is, it was sent before the request, so it responds to something else.
        case .requested where sendProgress == .none: return failUnsent(.protocolError, .unsolicited)
        case .requested, .responding:
            hasReceived = true
            do throws(WireError) {
                return try read(bytes, from: &position, isSent: sendProgress == .all)
            } catch {
                return fail(.init(.protocolError, .wire(error), wasSent: true))
            }
        }
    }

    /// The backend will send no more, and so much of the request has left by now.
    mutating func streamEnded(sendProgress: SendProgress) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        case .requested where sendProgress == .none:
            return failUnsent(.connectionTerminated, .ended)
        case .requested, .responding:
            do throws(WireError) {
                return try reader.end() ? complete(isReusable: false) : failLost(.ended)
            } catch {
                return failLost(.ended)
            }
        }
    }

    /// The connection is lost, and so much of the request has left.
    mutating func streamFailed(_ failure: IOFailure, sendProgress: SendProgress) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        case .requested where sendProgress == .none:
            return failUnsent(.connectionTerminated, .network(failure))
        case .requested, .responding: return failLost(.network(failure))
        }
    }

    /// This side closes the connection. Nothing that arrives has a meaning any more.
    mutating func close() {
        state = .closed
    }

    // MARK: Reading

    private mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int, isSent: Bool
    ) throws(WireError) -> Action {
        while true {
            switch try reader.read(bytes, from: &position) {
            case .needsMore: return .nothing
            case .interim: continue
            case .head(let head):
                state = .responding(keepsAlive: head.keepsAlive)
                return .head(head)
            case .body(let range): return .body(range)
            case .trailers(let range): return .trailers(range)
            case .complete: return complete(isReusable: isSent && position == bytes.count)
            }
        }
    }

    // MARK: Outcomes

    private mutating func complete(isReusable: Bool) -> Action {
        guard case .responding(let keepsAlive) = state else { return fail(Self.headless) }
        isReused = true
        let isReusable = isReusable && keepsAlive
        state = isReusable ? .idle : .closed
        return .end(isReusable: isReusable)
    }

    /// The request is still here, and must not leave any more.
    private mutating func failUnsent(_ kind: ClientFailure.Kind, _ cause: ClientFailure.Cause)
        -> Action
    {
        fail(.init(kind, cause, wasSent: false), mayResend: isReused)
    }

    private mutating func failLost(_ cause: ClientFailure.Cause) -> Action {
        fail(.lost(cause, responseHasBegun: hasReceived), mayResend: isReused && !hasReceived)
    }

    private mutating func fail(_ failure: ClientFailure, mayResend: Bool = false) -> Action {
        state = .closed
        return .fail(failure, mayResend: mayResend)
    }

    /// A reader that completes a response without a head would be an internal error; the call fails.
    private static let headless = ClientFailure(.protocolError, .wire(.statusLine), wasSent: true)
}
