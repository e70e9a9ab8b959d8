import Basics
import Rehearsal

/// One connection of a client.
struct ClientRecord {
    let number: Int
    /// Microseconds from the beginning of the run.
    let start: Int
    /// The worker at the other end.
    let worker: String?
    let sent: [RequestRecord]
    /// When the client closed the connection, or its own direction of it.
    let left: Instant?
    let halfClosed: Instant?
    /// When the client saw the gateway's end of the connection.
    let wasClosed: Instant?
    /// When the gateway ended its direction.
    let gatewayClosed: Instant?
    let neverConnected: Bool
    /// The gateway sent a response while no request was under way.
    let hasUnsolicited: Bool
}

/// One request of a client, with its response.
struct RequestRecord {
    let request: ScriptedRequest
    /// Its place on its connection.
    let place: Int
    /// Where its bytes stand among those of the connection.
    let bytes: Range<Int>
    /// The worker that received it.
    let worker: String?
    /// When the client began to send it.
    let began: Instant
    /// When the gateway read its first and its last byte.
    let firstRead: Instant?
    let read: Instant?

    let answer: PeerMessage?
    /// When the gateway wrote the response, and when the client had all of it.
    let answered: Instant?
    let received: Instant?
    /// When its client closed the connection.
    let clientLeft: Instant?

    var number: Int { request.number }
    var mark: String { request.mark }
}
