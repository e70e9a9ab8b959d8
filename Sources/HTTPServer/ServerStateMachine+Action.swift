import HTTP

/// The output of `ServerStateMachine`: what its connection has to do, and how it stands.
extension ServerStateMachine {
    enum Action: Equatable {
        /// Hand the request to the service.
        case serve
        /// Send `100 Continue`, then read the body.
        case sendContinue
        /// Read on: the body, or the next request.
        case readOn
        /// Write the head of the response, and with it the body unless that is streamed.
        case sendResponse(keepsAlive: Bool)
        /// Begin to write the body of a streamed response.
        case startRelay
        /// Write on: the client has taken what was written of the streamed body.
        case resumeRelay
        /// Cancel the exchange that runs, if there is one, and respond with a rejection; the
        /// connection ends.
        case reject(Rejection)
        /// Tell the reader of the body that its rest cannot be read; the connection ends with its
        /// response.
        case failBody(WireError)
        /// End our side and discard what still comes.
        case finish
        /// The client ended its side while its request runs: find out whether it is still there.
        case probe
        /// The client is gone, or its response cannot be completed: cancel the exchange and close.
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

    /// What the connection waits for, each with its own time limit.
    enum Wait: Equatable {
        case firstRequest, request, head, body, client, output, linger, briefLinger

        /// What the server can do with a connection that waits for this.
        var activity: Activity {
            switch self {
            case .firstRequest, .request: .idle
            case .output: .unread
            case .head, .body, .client, .linger, .briefLinger: .busy
            }
        }
    }
}
