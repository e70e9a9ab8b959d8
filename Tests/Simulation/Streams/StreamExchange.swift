import Basics
import Rehearsal

/// One streamed request of a simulated client, with what the client has seen of it.
final class StreamExchange {
    let request: ScriptedRequest
    let script: StreamScript
    /// Counts the requests of its connection, from 0.
    let index: Int
    /// Position of its first byte among all that the client sent on the connection.
    let start: Int
    let began: Instant
    let reader: BodyReader
    var sender: BodySender?
    /// In the tunnel.
    var tunnelSender: BodySender?
    var isAwaitingContinue: Bool
    var interim: [PeerMessage] = []
    /// The final head.
    var response: PeerMessage?
    /// The body of a response of the gateway itself.
    var text: [UInt8] = []
    /// Positions among all bytes that the client received: of the final head, of its body, and of what
    /// follows the response.
    var responseStart = 0
    var responseBody = 0
    var responseEnd: Int?
    /// When the client had all of it.
    var completed: Instant?
    /// Position behind the last byte that the client sent for it, once it sends nothing more.
    var end: Int?

    init(
        _ request: ScriptedRequest, _ script: StreamScript, index: Int, start: Int, began: Instant,
        reader: BodyReader
    ) {
        self.request = request
        self.script = script
        self.index = index
        self.start = start
        self.began = began
        self.reader = reader
        isAwaitingContinue = request.expectsContinue
    }

    var bodyStart: Int { start + request.bytes.count }

    /// Whether it has sent all that it wants to send.
    var hasSentAll: Bool {
        script.upload.framing == .none || sender?.isOver ?? false
    }

    /// Whether the request was sent to its last byte.
    var isSentWhole: Bool {
        script.upload.framing == .none || sender?.isComplete ?? false
    }
}
