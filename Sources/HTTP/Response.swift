package import Basics

/// A whole answer. Framing fields (`Content-Length`, `Connection`, `Date`) and `X-Request-Id` are
/// not among its fields: whoever writes it to a connection adds them.
package struct Response {
    package var status: Status
    package var fields: Fields
    package var body: Bytes

    package init(status: Status, fields: Fields = Fields(), body: Bytes = Bytes()) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
