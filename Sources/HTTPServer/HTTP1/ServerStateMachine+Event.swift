import HTTP

/// The input of `ServerStateMachine`: the events of a connection, with all data that decisions
/// need.
extension ServerStateMachine {
    enum Event: Equatable {
        /// The first bytes of a head arrived, but not its last.
        case headBegan
        /// A head is complete, possibly together with the body.
        case requestBegan(Facts)
        /// The reader of the request's body starts, pauses, resumes or cancels it.
        case bodyDemandChanged(BodyDemand)
        /// The last byte of the body arrived.
        case bodyEnded
        /// The body that is being read is malformed or breaks off.
        case bodyBroken(WireError)
        /// More of an unread body was discarded than the limit.
        case discardedTooMuch
        /// The response to the request is ready; its body may follow.
        ///
        /// - Parameter closesConnection: the connection must end with this response
        case responseReady(closesConnection: Bool)
        /// The head of a streamed response was written.
        case responseHeadSent
        /// The head of a response that switches to another protocol was written.
        case tunnelHeadSent
        /// The last byte of the response was written; the client may not have taken all of it.
        case responseEnded(waitsForClient: Bool)
        /// The rest of a streamed response does not arrive.
        case responseBroken
        /// Some output is unsent.
        case outputBlocked
        /// The client has taken all output.
        case outputDrained
        /// The input cannot be served: it is not HTTP, or a limit is reached.
        case rejected(Rejection)
        /// The limit of requests for one loop iteration is reached.
        case iterationUsedUp
        /// The next loop iteration has begun.
        case iterationBegan
        /// Reading is paused, because the client sent too much ahead; its end is not detected.
        case readingPaused
        /// Reading is resumed.
        case readingResumed
        /// The client sends no more.
        case clientEnded
        /// The client sends no more, behind data that waits while reading is paused.
        case clientEndPending
        /// The connection is lost.
        case clientLost
        /// The deadline of `wait` has passed.
        case deadlinePassed
        /// The server stops.
        ///
        /// - Parameter isSettled: a reset can destroy no sent data
        case drainRequested(isSettled: Bool)
        /// An idle connection makes room for others.
        ///
        /// - Parameter isSettled: a reset can destroy no sent data
        case evicted(isSettled: Bool)
    }

    /// The properties of a request that the machine needs.
    struct Facts: Equatable {
        var keepsAlive = true
        var body = Arrival.complete
        /// Whether the body is small enough to be discarded.
        var bodyMayBeDiscarded = true
        /// Whether the service itself limits the time for the body.
        var bodyIsTimed = false
        /// Whether the connection has switched to another protocol; the body of the request is what
        /// the client sends.
        var isTunnel = false
    }

    /// The state of a body when its request begins.
    enum Arrival: Equatable {
        /// There is none, or it has arrived.
        case complete
        /// It is arriving.
        case arriving
        /// It arrives after `100 Continue`.
        case awaitingContinue
    }
}
