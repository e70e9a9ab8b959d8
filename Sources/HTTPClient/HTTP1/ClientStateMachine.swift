import Basics
import HTTP
import Reactor

/// The client side of one HTTP/1.1 connection: interprets its bytes and decides whether it can be
/// reused.
///
/// Events in, actions out. One request at a time, because pipelining is not reliable (RFC 9112
/// 9.3.2). A connection is reused only if its response is complete, the request was sent
/// completely, nothing follows the response, and neither side requested to close. Otherwise it is
/// retired: further bytes would be read as the response to the next request.
struct ClientStateMachine {
    enum Action {
        /// Wait for more bytes.
        case nothing
        /// The head of an interim response (RFC 9110 15.2); further ones and the final one follow.
        case interim(ResponseHead)
        /// The head of the response. Its body follows, then `end`.
        case head(ResponseHead)
        /// This range of the received bytes is the next piece of the body.
        case body(Range<Int>)
        /// This range of the received bytes is the next piece of the trailer section.
        case trailers(Range<Int>)
        /// The body and the call are complete; the connection can be reused, or must be closed.
        case end(isReusable: Bool)
        /// The call failed; the connection must be closed. With `mayResend`, the connection was
        /// reused and no byte of the response arrived: the request may be resent if it was never
        /// sent or its method allows it.
        case fail(ClientFailure, mayResend: Bool)
        /// No call is affected; the connection must be closed.
        case retire
    }

    /// How much of the request was offered to the network.
    enum SendProgress {
        /// Nothing: the backend cannot have received any of it.
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

    /// Whether any byte arrived since the request was written.
    private var hasReceived = false
    /// Whether an earlier response on this connection was complete.
    private var isReused = false

    init(limits: WireLimits) {
        reader = ResponseReader(limits: limits)
    }

    /// A request is about to be written. The connection must be idle.
    ///
    /// - Parameters:
    ///   - mayUpgrade: the request asks to switch to another protocol
    ///   - statusesWithoutFields: the statuses for which the fields of the response are not used
    mutating func beginRequest(
        _ method: Method, mayUpgrade: Bool = false,
        statusesWithoutFields: ClosedRange<Int>? = nil
    ) {
        assert(isIdle, "a request on a connection that is in use or closed")
        state = .requested
        hasReceived = false
        reader.answersHead = method.isHead
        reader.mayUpgrade = mayUpgrade
        reader.statusesWithoutFields = statusesWithoutFields
    }

    /// The next event in the received bytes from `position` on; moves the position behind it. The
    /// caller repeats this until the result is none of `interim`, `head`, `body` and `trailers`.
    mutating func receive(
        _ bytes: Span<UInt8>, from position: inout Int, sendProgress: SendProgress
    ) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        // These bytes were sent before the request, so they are not its response.
        case .requested where sendProgress == .none: return failUnsent(.protocolError, .unsolicited)
        case .requested, .responding:
            hasReceived = true
            do throws(WireError) {
                return try read(bytes, from: &position, isSent: sendProgress == .all)
            } catch {
                if case .requested = state { return fail(.head(error)) }
                return fail(.init(.protocolError, .wire(error), wasSent: true))
            }
        }
    }

    /// The backend sends no more.
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

    /// The connection is lost.
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

    private var isIdle: Bool { if case .idle = state { true } else { false } }

    /// This side closes the connection. Later events are ignored.
    mutating func close() {
        state = .closed
    }

    // MARK: Reading

    private mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int, isSent: Bool
    ) throws(WireError) -> Action {
        defer { assert(position <= bytes.count, "more bytes are read than have arrived") }
        switch try reader.read(bytes, from: &position) {
        case .needsMore: return .nothing
        case .interim(let head): return .interim(head)
        case .head(let head):
            state = .responding(keepsAlive: head.keepsAlive)
            return .head(head)
        case .body(let range): return .body(range)
        case .trailers(let range): return .trailers(range)
        case .complete: return complete(isReusable: isSent && position == bytes.count)
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

    /// The request was not sent, and must not be sent any more.
    private mutating func failUnsent(_ kind: ClientFailure.Kind, _ cause: ClientFailure.Cause)
        -> Action
    {
        fail(.init(kind, cause, wasSent: false), mayResend: isReused)
    }

    private mutating func failLost(_ cause: ClientFailure.Cause) -> Action {
        fail(.lost(cause, responseHasBegun: hasReceived), mayResend: isReused && !hasReceived)
    }

    private mutating func fail(_ failure: ClientFailure, mayResend: Bool = false) -> Action {
        assert(!isIdle, "a call fails that does not exist")
        assert(!mayResend || isReused && !hasReceived, "a request with a response is sent again")
        state = .closed
        return .fail(failure, mayResend: mayResend)
    }

    /// A reader that completes a response without a head would be an internal error; the call fails.
    private static let headless = ClientFailure(.protocolError, .wire(.statusLine), wasSent: true)
}
