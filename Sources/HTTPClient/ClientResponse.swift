package import Basics
package import HTTP

/// The final response of a backend; interim responses (1xx) are skipped.
package struct ClientResponse {
    package let status: Status
    package let fields: Fields

    /// `bytes` or `described` after `Pool.send`; also `stream` after `Pool.sendStreaming`.
    package let body: Body

    package init(status: Status, fields: Fields, body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The content of a complete response; empty without one. Does not collect a streamed body.
    package var content: Bytes {
        switch body {
        case .bytes(let bytes): bytes
        case .described, .stream, .tunnel: Bytes()
        }
    }
}
