import Basics
import Rehearsal
import SimReactor

/// A streamed request as a simulated host received it, and what the host did with it.
final class HostStream {
    let key: StreamKey
    let target: BackendHost
    let worker: String
    let head: PeerMessage
    let script: StreamResponseScript
    let stream: CountedStream
    /// Number of earlier requests on the same connection.
    let before: Int
    let reader: BodyReader
    var sender: BodySender?
    let arrived: Instant
    /// Positions of the request, and behind it, among all bytes that the gateway sent on the connection.
    let requestStart: Int
    var requestEnd: Int?
    /// Position of the first byte of the response, also of an interim one, among all bytes that the
    /// host sent; of the final head; and of the body.
    let responseStart: Int
    var headStart: Int?
    var responseBody: Int?
    /// Position behind the response, once it is complete.
    var responseEnd: Int?
    /// The client's end of a tunnel arrived while the host still sent.
    var sawTunnelEnd = false
    /// The host ended the connection by force, so bytes may be lost.
    var wasReset = false

    init(
        _ key: StreamKey, at target: BackendHost, head: PeerMessage, script: StreamResponseScript,
        on stream: CountedStream, before: Int, reader: BodyReader, arrived: Instant,
        requestStart: Int
    ) {
        self.key = key
        self.target = target
        self.head = head
        self.script = script
        self.stream = stream
        self.before = before
        self.reader = reader
        self.arrived = arrived
        self.requestStart = requestStart
        responseStart = stream.written
        worker = stream.stream.peerName ?? ""
    }
}
