import Basics
import Rehearsal
import SimReactor

/// What a client has seen of one streamed request.
@dynamicMemberLookup
struct StreamRecord {
    let exchange: StreamExchange
    /// Position behind the request in what the client sent.
    let end: Int
    let toGateway: SimJournal
    let fromGateway: SimJournal
    /// When the client closed or reset the connection, or only its own direction.
    let disconnected: Instant?
    let halfClosed: Instant?
    let endSeen: Instant?

    subscript<Value>(dynamicMember path: KeyPath<StreamExchange, Value>) -> Value {
        exchange[keyPath: path]
    }

    /// Whether the last byte of the request reached the gateway.
    var requestRead: Instant? { exchange.isSentWhole ? toGateway.read(at: end - 1) : nil }
    /// Whether the client ended the exchange before the response was complete.
    var left: Instant? { [disconnected, halfClosed].compactMap { $0 }.min() }
    /// It has sent all that it wanted to send in a tunnel, and ended its direction.
    var hasEndedTunnel: Bool { exchange.tunnelSender?.isComplete ?? false || halfClosed != nil }
}

extension StreamExchange {
    /// Bytes of the request's body that were sent, and bytes that were sent in a tunnel.
    var sent: Int { sender?.sent ?? 0 }
    var sentInTunnel: Int { tunnelSender?.sent ?? 0 }
    /// Bytes of the response's body that arrived; the first that is not right.
    var received: Int { reader.received }
    var difference: Int? { reader.difference }
    var closeFrameBytes: Int { reader.closeFrameBytes }
    /// Whether the response looked complete.
    var isComplete: Bool { reader.isComplete }
    var trailers: [(name: String, value: String)] { reader.trailers }
}

/// An attempt of a streamed request, as a host has seen it.
typealias StreamAttempt = HostStream

extension HostStream {
    var backend: Int { target.backend }
    var host: Int { target.host }
    var fromGateway: SimJournal { stream.stream.incomingJournal }
    var toGateway: SimJournal { stream.stream.outgoingJournal }
    /// Bytes of the request's body that arrived; the first that is not right; whether it was complete.
    var received: Int { reader.received }
    var difference: Int? { reader.difference }
    var closeFrameBytes: Int { reader.closeFrameBytes }
    var isRequestComplete: Bool { reader.isComplete }
    /// Bytes of the response's body that were sent, and whether all of the response was.
    var sent: Int { sender?.sent ?? 0 }
    var isSentWhole: Bool { responseEnd != nil }

    /// When the gateway sent its first byte.
    var sentAt: Instant { fromGateway.written(at: requestStart) ?? arrived }

    /// When the gateway had the whole head of the final response.
    var headRead: Instant? { responseBody.flatMap { $0 > 0 ? toGateway.read(at: $0 - 1) : nil } }

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
