import HTTP

/// The input of `ServerStateMachine`: what happened on a connection, with all facts that count.
extension ServerStateMachine {
    enum Event: Equatable {
        /// The first bytes of a head came, and not its last.
        case headBegan
        /// A head is complete, and with it perhaps the body.
        case requestBegan(Facts)
        /// The service reads the body of the request.
        case bodyWanted
        /// The reader of the body takes no more for now.
        case bodyPaused
        /// The reader of the body takes more again.
        case bodyResumed
        /// The reader of the body does not need its rest.
        case bodyRefused
        /// The last byte of the body came.
        case bodyEnded
        /// The body that is being read is malformed or breaks off.
        case bodyBroken(WireError)
        /// More was discarded than an unwanted body is worth.
        case discardedTooMuch
        /// The response to the request is there, its body perhaps still to come.
        ///
        /// - Parameter isLast: the connection ends with it
        case responseReady(isLast: Bool)
        /// The head of a response was written whose body is streamed.
        case responseHeadSent
        /// The last byte of the response was written; perhaps the client has not taken all of it.
        case responseEnded(waitsForClient: Bool)
        /// The rest of a streamed response does not arrive.
        case responseBroken
        /// Something written has to wait for the client.
        case outputBlocked
        /// Everything written was taken.
        case outputDrained
        /// The input cannot be served: it is not HTTP, or a limit is reached.
        case rejected(Rejection)
        /// Enough requests of this connection were begun in this pass of the loop.
        case iterationUsedUp
        /// The next pass has begun.
        case iterationBegan
        /// The client sent so much ahead that nothing is read any more, and its end is not seen.
        case readingPaused
        /// There is room again, and reading goes on.
        case readingResumed
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
    }

    /// What the machine needs to know of a request.
    struct Facts: Equatable {
        var keepsAlive = true
        var body = Arrival.complete
        /// Of a body that is small enough to be discarded; false where it must not be.
        var bodyMayBeDiscarded = true
    }

    /// How a body stands when its request begins.
    enum Arrival: Equatable {
        /// There is none, or it is there already.
        case complete
        /// It is still coming.
        case arriving
        /// It comes after `100 Continue`.
        case awaitingContinue
    }
}
