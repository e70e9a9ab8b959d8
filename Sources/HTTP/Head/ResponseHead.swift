/// A response without its body. The reason phrase is dropped, since it has no meaning (RFC 9112 4).
package struct ResponseHead: Sendable {
    package var status: Status
    package var version: HTTPVersion
    package var fields: Fields

    /// Whether the server allows the connection to be reused after this response.
    package var keepsAlive: Bool

    /// How its body is framed.
    package var framing: BodyFraming

    package init(
        status: Status, version: HTTPVersion, fields: Fields, keepsAlive: Bool, framing: BodyFraming
    ) {
        self.status = status
        self.version = version
        self.fields = fields
        self.keepsAlive = keepsAlive
        self.framing = framing
    }
}
