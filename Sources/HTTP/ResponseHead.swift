/// An answer without its body. Its reason phrase is not kept: it means nothing (RFC 9112 4).
package struct ResponseHead: Sendable {
    package var status: Status
    package var version: HTTPVersion
    package var fields: Fields

    /// Whether the other side allows the connection to be used again after this answer.
    package var keepsAlive: Bool

    /// How its body is framed.
    package var framing: BodyFraming
}
