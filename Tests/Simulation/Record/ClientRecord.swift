import Basics
import Rehearsal

/// A connection of a client.
struct ClientRecord {
    let number: Int
    /// Microseconds since the run began.
    let start: Int
    /// The worker at the other end.
    let worker: String?
    let sent: [RequestRecord]
    /// When the client closed the connection, or its own direction of it.
    let disconnected: Instant?
    let halfClosed: Instant?
    /// When the client noticed that the gateway had ended the connection.
    let endSeen: Instant?
    /// When the gateway ended its direction.
    let gatewayClosed: Instant?
    let neverConnected: Bool
    /// The gateway sent a response while no request was in progress.
    let hasUnsolicited: Bool
    /// At another listener than the first one.
    var handshake: HandshakeRecord?
}

/// One request of a client, with its response.
struct RequestRecord {
    let request: ScriptedRequest
    /// Counts the requests of its connection, from 0.
    let index: Int
    /// Position of its bytes among all that the client sent on the connection.
    let bytes: Range<Int>
    /// The worker that received it.
    let worker: String?
    /// When the client began to send it.
    let began: Instant
    /// When the gateway read its first and its last byte.
    let firstRead: Instant?
    let read: Instant?

    let response: PeerMessage?
    /// When the gateway wrote the response, and when the client had all of it.
    let responded: Instant?
    let received: Instant?
    /// When the last byte of the response had left the gateway.
    var taken: Instant?
    /// When its client closed the connection.
    let clientDisconnected: Instant?
    /// Of a request for an endpoint with `proxy`.
    var stream: StreamRecord?
    /// Of a request over HTTP/2.
    var http2: HTTP2RequestRecord?

    var number: Int { request.number }
    var mark: String { request.mark }

    /// When no call of the request ran any more: when the gateway wrote the response, or, behind the head of a
    /// response in parts, at the latest when the client had all of it.
    var callsEnded: Instant? { response?.hasParts == true ? received : responded }
}
