package import Basics
package import HTTP

/// The final response of a backend; interim responses (1xx) are skipped.
package struct ClientResponse {
    package let status: Status
    /// Beside the status, where it needs no memory: promises copy responses. Negative for none.
    private let attemptPlace: Int32
    package let fields: Fields

    /// `bytes` or `described` after `Pool.send`; also `stream` after `Pool.sendStreaming`.
    package let body: Body

    private let trailerSection: TrailerLines?

    package init(status: Status, fields: Fields, body: Body, attempt: Int? = nil) {
        self.init(status: status, fields: fields, body: body, trailers: nil, attempt: attempt)
    }

    init(
        status: Status, fields: Fields, body: Body, trailers: TrailerLines?, attempt: Int?
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        trailerSection = trailers
        attemptPlace = attempt.flatMap { Int32(exactly: $0) } ?? -1
    }

    /// The place of its attempt in the record of the exchange; nil for one that is not recorded.
    package var attempt: Int? { attemptPlace < 0 ? nil : Int(attemptPlace) }

    /// The trailer section of a complete response (RFC 9110 6.5); empty without one. The sink of a
    /// streamed body gets it.
    package var trailers: Fields { trailerSection?.fields ?? Fields() }

    /// The content of a complete response; empty without one. Does not collect a streamed body.
    package var content: Bytes {
        switch body {
        case .bytes(let bytes): bytes
        case .described, .stream, .tunnel: Bytes()
        }
    }
}

/// The lines of a trailer section. An object, because few responses have one and every response has
/// room for it.
final class TrailerLines {
    private var text: [UInt8] = []

    /// `Limits.trailerBytes` bounds all pieces.
    func append(_ piece: Span<UInt8>) { text.append(copying: piece) }

    var fields: Fields { Fields(trailerLines: text) }
}
