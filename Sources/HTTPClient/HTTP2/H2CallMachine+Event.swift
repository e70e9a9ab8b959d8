import HTTP
import HTTP2

/// The input and the output of `H2CallMachine`: events with all data that decisions need, and the actions of its
/// stream.
extension H2CallMachine {
    enum Event {
        /// The end of the request was sent.
        case requestSent
        /// The last byte of the response arrived, and its trailers.
        case responseEnded
        /// The response is not needed.
        ///
        /// - Parameter isTimedOut: it has not arrived in time
        case callCancelled(isTimedOut: Bool)
        /// The request cannot be sent, or the response cannot be taken.
        case callFailed
        /// The user of the response does not take its body.
        case readingPaused
        case readingResumed
        /// The connection may reset the stream of a call that has ended.
        case resetDue
        case streamClosed(H2Code, Facts)
        /// The connection has ended, and is not in the pool any more.
        ///
        /// - Parameter failure: the result of a call whose request was sent; nil for a lost connection
        case connectionEnded(ClientFailure.Cause, _ failure: ClientFailure?, Facts)
        /// The connection drops the call without a result.
        case callDropped
    }

    /// The properties of a stream that the machine needs.
    struct Facts {
        /// The backend may have received the head of the request.
        var hasSentHead = true
        /// The backend has sent a malformed response.
        var isMalformed = false
        /// What is wrong with it, if that is known.
        var fault: WireError?
    }

    enum HeadUse {
        case take
        /// It is interim (RFC 9110 15.2); others and the final one follow.
        case takeInterim
        /// It is one too many: fail the call, and use the connection for no others.
        case refuse
        case drop
    }

    /// The credit that the backend gets for received bytes of a body (RFC 9113 5.2).
    enum Credit: Equatable {
        /// For other streams only.
        case connection
        case stream(growsWindow: Bool)
    }

    enum Action: Equatable {
        /// Return the connection, or end what is left of the stream; then complete the call.
        case complete(endsStream: Bool)
        /// End the stream, whose call has ended.
        ///
        /// - Parameter testsConnection: it may be dead
        case endEarly(testsConnection: Bool)
        /// Return credit for so many bytes to the stream, whose connection has it already.
        case returnCredit(Int, growsWindow: Bool)
        /// Reset the stream, and return the connection.
        case reset
        /// Return the connection, whose stream is closed, then end the call if it has not ended.
        case close(Closing, Outcome?)
        /// Leave the connection, which has ended, then end the call if it has not ended.
        case leave(Outcome?)
    }

    /// What the end of a stream says about its connection.
    enum Closing {
        /// It is used for no more calls.
        case malformed
        /// It takes no more streams than the others.
        case refused
        case other
    }

    /// The result of a call without a response.
    enum Outcome: Equatable {
        /// The backend has not processed the request.
        case resendUnprocessed(ClientFailure.Cause)
        /// The backend has closed a connection that was idle before, perhaps without reading the request.
        case resendLost(ClientFailure)
        /// The backend requires HTTP/1.1 (RFC 9113 7).
        case resendOverHTTP1
        /// - Parameter pausesConnecting: the backend has requested fewer connections
        case fail(ClientFailure, pausesConnecting: Bool = false)
    }
}
