package import Basics
package import HTTP

/// The final response of a backend; interim responses (1xx) are skipped.
package struct ClientResponse {
    package let status: Status
    package let fields: Fields

    /// `bytes` or `described` after `Pool.send`; also `stream` after `Pool.sendStreaming`.
    package let body: Body

    /// The place of its attempt in the record of the exchange; nil for one that is not recorded.
    package let attempt: Int?

    package init(status: Status, fields: Fields, body: Body, attempt: Int? = nil) {
        self.status = status
        self.fields = fields
        self.body = body
        self.attempt = attempt
    }

    /// The content of a complete response; empty without one. Does not collect a streamed body.
    package var content: Bytes {
        switch body {
        case .bytes(let bytes): bytes
        case .described, .stream, .tunnel: Bytes()
        }
    }
}
