import Rehearsal

/// A request on a connection of HTTP/2.
final class HTTP2HostExchange {
    let id: Int
    /// Position of its first byte among all that the gateway sent.
    let start: Int
    private let fields: [PeerField]
    var body: [UInt8] = []
    /// Nil until it is complete.
    var request: HostRequest?
    /// A part of the response was sent.
    var hasResponded = false
    /// Nothing more is sent for it.
    var isOver = false

    init(_ head: ReceivedHead) {
        id = head.stream
        start = head.range.lowerBound
        fields = head.fields
    }

    var script: HTTP2Response { request?.script.http2 ?? HTTP2Response() }

    private func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    var mark: String? { field("x-request-id") }

    private static let pseudo = [":method", ":scheme", ":authority", ":path"]

    /// What is wrong with the head (RFC 9113 8.2 and 8.3); nil if nothing is.
    var fault: String? {
        guard fields.prefix(4).map(\.name).sorted() == Self.pseudo.sorted() else {
            return "the pseudo fields are \(fields.prefix(4).map(\.name))"
        }
        let rest = Array(fields.dropFirst(4))
        return (rest.forbiddenName ?? rest.first { $0.name == "host" }?.name).map {
            "the field \($0)"
        }
    }

    /// The request as one of HTTP/1.1, which the checkers read.
    var message: PeerMessage? {
        let host: PeerField = ("host", field(":authority") ?? "")
        return PeerMessage(
            "\(field(":method") ?? "-") \(field(":path") ?? "-") HTTP/1.1", [host] + fields,
            body: body)
    }
}
