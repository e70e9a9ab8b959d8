import Basics
import Rehearsal
import SimReactor

/// What a client has seen of one streamed request.
struct StreamRecord {
    let script: StreamScript
    /// Bytes of the request's body that were sent, and whether all of the request was.
    let sent: Int
    let isSentWhole: Bool
    /// Bytes that were sent in a tunnel.
    let sentInTunnel: Int
    let interim: [PeerMessage]
    /// Bytes of the response's body that arrived; the first that is not right.
    let received: Int
    let difference: Int?
    /// Whether the response looked complete.
    let isComplete: Bool
    let trailers: [(name: String, value: String)]
    /// Positions in what the client sent: of the head, of the body, and behind it.
    let start: Int
    let bodyStart: Int
    let end: Int
    /// Positions in what the client received: of the final head, of its body, and of what follows.
    let responseStart: Int
    let responseBody: Int
    let responseEnd: Int?
    let toGateway: SimJournal
    let fromGateway: SimJournal
    /// When the client closed or reset the connection, or only its own direction.
    let disconnected: Instant?
    let halfClosed: Instant?
    let endSeen: Instant?
    /// It has sent all that it wanted to send in a tunnel, and ended its direction.
    let hasEndedTunnel: Bool

    /// Whether the last byte of the request reached the gateway.
    var requestRead: Instant? { isSentWhole ? toGateway.read(at: end - 1) : nil }
    /// Whether the client ended the exchange before the response was complete.
    var left: Instant? { [disconnected, halfClosed].compactMap { $0 }.min() }
}

/// An attempt of a streamed request, as a host has seen it.
struct StreamAttempt {
    let key: StreamKey
    let backend: Int
    let host: Int
    let worker: String
    let head: PeerMessage
    let script: StreamResponseScript
    /// Number of earlier requests on the same connection.
    let before: Int
    let arrived: Instant
    /// Bytes of the request's body that arrived; the first that is not right; whether it was complete.
    let received: Int
    let difference: Int?
    let isRequestComplete: Bool
    /// Bytes of the response's body that were sent, and whether all of the response was.
    let sent: Int
    let isSentWhole: Bool
    /// Positions in what the gateway sent: of the request, of its body, and behind it.
    let requestStart: Int
    let requestBody: Int
    let requestEnd: Int?
    /// Positions in what the host sent: of the first byte, of the final head, of the body, and behind it.
    let responseStart: Int
    let headStart: Int?
    let responseBody: Int?
    let responseEnd: Int?
    let wasReset: Bool
    /// The client's end of a tunnel arrived while the host still sent.
    let sawTunnelEnd: Bool
    let fromGateway: SimJournal
    let toGateway: SimJournal

    /// When the gateway sent its first byte.
    var sentAt: Instant { fromGateway.written(at: requestStart) ?? arrived }

    /// When the gateway had the whole head of the final response.
    var headRead: Instant? { responseBody.flatMap { $0 > 0 ? toGateway.read(at: $0 - 1) : nil } }

    /// Whether the gateway read a byte of a response, also of an interim one.
    var responseBegan: Instant? { toGateway.read(at: responseStart) }

    /// When the gateway read bytes before the final head.
    var interimRead: [Instant] {
        guard !script.interim.isEmpty else { return [] }
        return toGateway.readTimes(of: responseStart..<(headStart ?? .max))
    }

    /// When the gateway read the last byte of a complete response.
    var read: Instant? {
        guard isSentWhole, let responseEnd, responseEnd > 0 else { return nil }
        return endsWithConnection
            ? toGateway.endRead : toGateway.read(at: responseEnd - 1)
    }

    var endsWithConnection: Bool {
        [.untilClose, .raw].contains(script.body.framing) && script.sendsBody(to: head)
    }

    /// When the gateway closed the connection.
    var closed: Instant? {
        [fromGateway.closed, toGateway.abandoned].compactMap { $0 }.min()
    }

    /// When the gateway was done with it.
    var ended: Instant? { [read, closed].compactMap { $0 }.min() }
}
