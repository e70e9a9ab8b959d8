import Basics

/// What a client over HTTP/2 has seen of one request, which shares its connection with others.
struct HTTP2RequestRecord {
    /// When the gateway read the last byte of the head.
    let headRead: Instant?
    /// When the gateway read that the client resets the stream; and whether the client did.
    let resetRead: Instant?
    let wasReset: Bool
    /// When the gateway wrote the last byte of the response.
    let responseEnded: Instant?
    /// The gateway reset the stream, with this code, and when it wrote that.
    let resetCode: Int?
    let resetWritten: Instant?
    /// When the gateway wrote a GOAWAY that excludes the stream.
    let excluded: Instant?
}
