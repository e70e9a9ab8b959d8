import Basics
import Rehearsal

/// One request of a client over HTTP/2, with what the client has seen of it.
final class HTTP2ClientExchange {
    let request: ScriptedRequest
    /// Counts the requests of its connection, from 0.
    let index: Int
    let began: Instant
    /// Positions among all bytes that the client sent: of the first byte, and behind the head, what was
    /// sent, and its RST_STREAM.
    let start: Int
    var headEnd = 0
    var end = 0
    var resetEnd: Int?
    /// The request was sent to its last byte.
    var isSentWhole = false
    /// Nothing more is received for it.
    var isOver = false

    var head: [PeerField]?
    var body: [UInt8] = []
    /// Positions among all bytes that the client received.
    var responseStart = 0
    var responseEnd: Int?
    var received: Instant?
    /// The gateway's RST_STREAM: its code and its first byte; and that of a GOAWAY which excludes the stream.
    var resetCode: Int?
    var resetPosition: Int?
    var excludedAt: Int?

    init(_ request: ScriptedRequest, index: Int, start: Int, began: Instant) {
        self.request = request
        self.index = index
        self.start = start
        self.began = began
    }

    var id: Int { index * 2 + 1 }
    var mark: String { request.mark }

    /// What is wrong with the head of a response, or with trailers.
    static func fault(of head: ReceivedHead) -> String? {
        let isFinal = head.fields.first?.name == ":status"
        return Array(head.fields.dropFirst(isFinal ? 1 : 0)).forbiddenName.map { "the field \($0)" }
    }

    var faultOfLength: String? {
        guard request.method != "HEAD",
            let stated = head?.first(where: { $0.name == "content-length" })?.value,
            Int(stated) != body.count, !["204", "304"].contains(head?.first?.value)
        else { return nil }
        return "\(body.count) bytes of a body, \(stated) are stated"
    }

    /// The complete response as one of HTTP/1.1, which the checkers read; nil if there is none.
    var response: PeerMessage? {
        guard responseEnd != nil, let head, let status = head.first?.value else { return nil }
        return PeerMessage("HTTP/1.1 \(status) -", head, body: body)
    }
}
