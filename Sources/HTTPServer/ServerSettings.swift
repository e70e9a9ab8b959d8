package import HTTP

/// What one core's server allows, beside the limits of the wire.
package struct ServerSettings: Sendable {
    package var limits = Limits()

    /// Connections at once. One more is told 503 and closed.
    package var connections = 10_000

    /// Connections beyond `connections` that may be open at once for their 503; others are closed
    /// without an answer.
    package var refusedConnections = 64

    /// Requests being answered at once. One more is told 503.
    package var requestsInFlight = 2_000

    /// What may be held in memory at once for all requests and connections, in bytes. Whoever would
    /// add to more is told 503.
    ///
    /// 256 MiB: some hundreds of requests of the largest size, or tens of thousands of usual ones.
    package var bufferedBytes = 256 * 1024 * 1024

    /// What is kept of a client that sends its next requests early, in bytes; then reading stops.
    ///
    /// 16 KiB: some small requests, or the first piece of a body that nobody asked for yet.
    package var aheadBytes = 16 * 1024

    /// What is read over of a body that was answered without being wanted, in bytes; beyond, the
    /// connection is closed instead.
    ///
    /// 64 KiB: cheaper than a new connection.
    package var discardedBytes = 64 * 1024

    /// How long a connection that was closed on our side goes on reading over what the client still
    /// sends, so that a reset does not take the answer away from it (RFC 9112 9.6).
    package var lingerTimeout = Duration.seconds(2)

    /// How long after a client ended its side, and each time again, it is asked whether it is still
    /// there. See `ServerConnection.probe`.
    package var probeInterval = Duration.milliseconds(25)

    /// Told in `Retry-After` with a 503, in seconds.
    package var retryAfter: UInt64 = 1

    package init() {}
}
