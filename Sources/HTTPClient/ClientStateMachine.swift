import Basics
import HTTP
import Reactor

/// The client's side of one HTTP/1.1 connection: what its bytes mean and what they may be used for.
///
/// Events in, actions out. One request at a time, because pipelining cannot be trusted (RFC 9112
/// 9.3.2). A connection may be used again only if its answer is complete, the request went out
/// completely, nothing follows the answer, and nobody said close. Anything else retires it: an
/// answer nobody asked for would be taken for the answer to the next request.
struct ClientStateMachine {
    enum Action {
        /// Wait for more.
        case nothing
        /// The call is answered; the connection may be used again, or must be closed.
        case answer(ClientResponse, mayStay: Bool)
        /// The call failed; the connection must be closed. The request may go out once more, if it
        /// never left or its method allows that: the connection was an old one, and nothing came back
        /// to it.
        case fail(ClientFailure, mayResend: Bool)
        /// No call is concerned; the connection must be closed.
        case retire
    }

    /// How much of the request has been offered to the network by now.
    enum Departure {
        /// Nothing: the other side cannot know of it.
        case none
        case some, all
    }

    private enum State {
        case idle
        /// A request went out.
        case asked
        /// The head of its answer came.
        case answering(ResponseHead)
        case closed
    }

    private var state = State.idle
    private var reader: ResponseReader
    private var body = BodyBuffer(.none, limit: 0)
    private var bodyBytesMax = 0
    private var holder: Exchange?

    /// Whether anything came since the request went out.
    private var hasHeard = false
    /// Whether there was an answer on this connection before.
    private var isReused = false

    init(limits: Limits) {
        reader = ResponseReader(limits: limits)
    }

    /// A request is about to be written. The connection must be idle.
    mutating func ask(_ request: ClientRequest) {
        state = .asked
        hasHeard = false
        bodyBytesMax = request.answerBytesMax
        holder = request.holder
        reader.answersHead = request.method == .head
    }

    /// Bytes are read, and so much of the request has left by now.
    mutating func received(_ bytes: Span<UInt8>, departure: Departure) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        // Whatever this is, it was said before the request: nobody knows what it answers.
        case .asked where departure == .none: return unsent(.protocolError, .unasked)
        case .asked, .answering:
            hasHeard = true
            do throws(WireError) {
                return try read(bytes, isSent: departure == .all)
            } catch {
                return fail(.init(.protocolError, .wire(error), wasSent: true))
            }
        }
    }

    /// The other side will send no more, and so much of the request has left by now.
    mutating func ended(departure: Departure) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        case .asked where departure == .none: return unsent(.connectionTerminated, .ended)
        case .asked, .answering:
            do throws(WireError) {
                return try reader.end() ? complete(mayStay: false) : lost(.ended)
            } catch {
                return lost(.ended)
            }
        }
    }

    /// The connection is lost, and so much of the request has left.
    mutating func failed(_ failure: IOFailure, departure: Departure) -> Action {
        switch state {
        case .closed: return .nothing
        case .idle:
            state = .closed
            return .retire
        case .asked where departure == .none:
            return unsent(.connectionTerminated, .network(failure))
        case .asked, .answering: return lost(.network(failure))
        }
    }

    // MARK: Reading

    private mutating func read(_ bytes: Span<UInt8>, isSent: Bool) throws(WireError) -> Action {
        var position = 0
        while true {
            switch try reader.read(bytes, from: &position) {
            case .needsMore: return .nothing
            case .interim, .trailers: break
            case .head(let head):
                body = BodyBuffer(head.framing, limit: bodyBytesMax, for: holder)
                state = .answering(head)
                if body.isTooLargeFromTheStart { return tooLarge() }
            case .body(let range):
                guard body.append(bytes.extracting(range)) else { return tooLarge() }
            case .complete: return complete(mayStay: isSent && position == bytes.count)
            }
        }
    }

    // MARK: Outcomes

    private mutating func complete(mayStay: Bool) -> Action {
        guard case .answering(let head) = state else { return fail(Self.headless) }
        let response = ClientResponse(status: head.status, fields: head.fields, body: body.take())
        letGo()
        isReused = true
        let stays = mayStay && head.keepsAlive
        state = stays ? .idle : .closed
        return .answer(response, mayStay: stays)
    }

    /// The request is still here, and must not leave any more.
    private mutating func unsent(_ kind: ClientFailure.Kind, _ cause: ClientFailure.Cause) -> Action
    {
        fail(.init(kind, cause, wasSent: false), mayResend: isReused)
    }

    private mutating func lost(_ cause: ClientFailure.Cause) -> Action {
        fail(.lost(cause, answerHasBegun: hasHeard), mayResend: isReused && !hasHeard)
    }

    private mutating func tooLarge() -> Action {
        body.lacksRoom
            ? fail(.init(.noRoom, .memory, wasSent: true))
            : fail(.init(.responseBodySize, .limit(bodyBytesMax), wasSent: true))
    }

    private mutating func fail(_ failure: ClientFailure, mayResend: Bool = false) -> Action {
        state = .closed
        letGo()
        return .fail(failure, mayResend: mayResend)
    }

    /// An idle connection must not keep the room of the last one it worked for.
    private mutating func letGo() {
        body = BodyBuffer(.none, limit: 0)
        holder = nil
    }

    /// A reader that completes an answer without a head would be a bug of ours; the call fails.
    private static let headless = ClientFailure(.protocolError, .wire(.statusLine), wasSent: true)
}
