/// A response over HTTP/2, with what the host does to the connection.
package struct HTTP2Response {
    package typealias Field = (name: String, value: String)

    /// Heads of interim responses, then the final one; empty if there is none.
    package var heads: [[Field]] = []
    /// The pieces of the body, in this order.
    package var pieces: [[UInt8]] = []
    package var ending = Ending.endsStream
    /// Sent when the request arrives.
    package var shutdown: Shutdown?
    /// On the connection, after the response.
    package var idleEvent: ScriptedResponse.IdleEvent?

    package enum Ending: Equatable {
        case endsStream
        /// Trailers end the stream.
        case trailers
        /// RST_STREAM with this code.
        case resets(Int)
        /// RST_STREAM with REFUSED_STREAM: the request was not processed.
        case refuses
        /// RST_STREAM with ENHANCE_YOUR_CALM.
        case enhanceYourCalm
        /// The connection ends, with or without a reset.
        case closesConnection, resetsConnection
        /// Nothing follows.
        case stalls
        /// The host does not send anything on this connection any more.
        case freezes
        /// A frame follows that is not valid on any connection.
        case breaksConnection
    }

    package enum Shutdown: Equatable {
        /// GOAWAY with the highest id, and after so many milliseconds with the id of the last stream.
        case graceful(after: Int)
        /// GOAWAY with the id of the request.
        case last
        /// GOAWAY with the id before the request's id, which is not processed.
        case excluding
    }

    package init() {}

    /// Whether other requests of the connection may fail, or those that follow.
    package var disturbsConnection: Bool {
        if shutdown != nil || idleEvent != nil { return true }
        switch ending {
        case .endsStream, .trailers, .resets, .stalls: return false
        case .refuses, .enhanceYourCalm, .closesConnection, .resetsConnection, .freezes,
            .breaksConnection:
            return true
        }
    }
}
