package import Basics

/// What a simulated host records of a request over HTTP/2, which shares its connection with others.
/// Positions are those among all bytes that one side sent; each is that behind a frame.
package struct HTTP2Exchange {
    /// Behind the final head of the response, and behind its last frame.
    package var headEnd: Int?
    package var responseEnd: Int?
    /// Behind the frame with which the host ended the stream early: RST_STREAM, or a GOAWAY that excludes it.
    package var failureEnd: Int?
    /// Of the gateway's RST_STREAM: its first byte.
    package var resetStart: Int?
    /// The host states that it has not processed the request.
    package var wasRefused = false
    /// The host has ended the connection, does not respond on it any more, or has sent malformed frames.
    package var connectionEnd: ConnectionEnd?
    /// When the host closed the connection, perhaps after malformed frames: from then on it does not see
    /// whether the gateway resets the stream.
    package var hostClosed: Instant?
    /// The host states a limit of streams, which may delay a request.
    package var isLimited = false
    /// Earlier requests of the connection.
    package var earlier: [HostRequest] = []

    package enum ConnectionEnd { case lost, frozen, malformed }

    package init() {}
}
