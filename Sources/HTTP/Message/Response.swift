package import Basics

/// A response. Framing fields (`Content-Length`, `Connection`, `Date`) and `X-Request-Id` are not
/// among its fields: the server adds them when it writes the response to a connection.
package struct Response {
    package var status: Status
    package var fields: Fields
    package var body: Body
    /// Whether it is passed on from a backend, so that it may state the date (RFC 9110 6.6.1).
    package var isProxied = false

    /// A response whose body is complete.
    package init(status: Status, fields: Fields = Fields(), body: Bytes = Bytes()) {
        self.init(status: status, fields: fields, body: .bytes(body))
    }

    package init(status: Status, fields: Fields = Fields(), body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The body where it is complete; no bytes where it is streamed or only described.
    package var completeBody: Bytes {
        if case .bytes(let bytes) = body { bytes } else { Bytes() }
    }
}
