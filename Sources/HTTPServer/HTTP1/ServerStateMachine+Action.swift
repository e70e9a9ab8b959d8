import HTTP

/// The output of `ServerStateMachine`: actions for its connection, and its reading and waiting
/// states.
extension ServerStateMachine {
    enum Action: Equatable {
        /// Pass the request to the service.
        case serve
        /// Send `100 Continue`, then read the body.
        case sendContinue
        /// Read on: the body, or the next request.
        case readOn
        /// Write the head of the response, and with it the body unless that is streamed.
        case sendResponse(keepsAlive: Bool)
        /// Begin to write the body of a streamed response.
        case startBody
        /// Pass on what the client sends, and write what arrives for it.
        case startTunnel
        /// The client has ended its side of the tunnel.
        case endUpload
        /// Continue the streamed body: the client has taken the unsent bytes.
        case resumeBody
        /// Cancel the running exchange, if there is one, and send a rejection; the connection ends.
        case reject(Rejection)
        /// Fail the reader of the body; the connection ends after the response.
        case failBody(WireError)
        /// End this side and discard further input.
        case finish
        /// Check whether the client still exists, while its request runs: it has half-closed the
        /// connection, or reading is paused, so that its end would go unnoticed.
        case probe
        /// The client is gone, or its response cannot be completed: cancel the exchange and close.
        case abandon
        case close
    }

    /// How to treat received bytes.
    enum Reading: Equatable {
        /// Read messages from them.
        case consume
        /// Store them for later.
        case keep
        case drop
    }
}
