/// What one worker's server allows, beside the limits of the wire.
package struct ServerSettings: Sendable, Equatable {
    package var limits = Limits()

    /// Connections at once. One more is told 503 and closed.
    package var connections = 10_000

    /// Connections beyond `connections` that may be open at once for their 503; others are closed
    /// without an answer.
    package var refusedConnections = 64

    /// Connections at once of one client, over all workers; nil without a limit. One more is
    /// answered 503 and closed.
    package var connectionsPerClient: Int?

    /// Requests at work at once, whose bodies are complete. One more is answered 503.
    package var requestsInFlight = 2_000

    /// What may be held in memory at once for all requests and connections, in bytes. Whoever would
    /// add to more is told 503.
    ///
    /// 256 MiB: some hundreds of requests of the largest size, or tens of thousands of usual ones.
    package var bufferedBytes = 256 * 1024 * 1024

    /// What is kept of a client that sends its next requests early, in bytes; then reading stops.
    ///
    /// 16 KiB: some small requests, or the first piece of a body that nobody asked for yet.
    package var readAheadBytes = 16 * 1024

    /// What is read over of a body that was answered without being wanted, in bytes; beyond, the
    /// connection is closed instead.
    ///
    /// 64 KiB: cheaper than a new connection.
    package var discardedBytes = 64 * 1024

    /// How long a connection that was closed on our side goes on reading over what the client still
    /// sends, so that a reset does not take the answer away from it (RFC 9112 9.6).
    package var lingerTimeout = Duration.seconds(2)

    /// How long after its last answer an idle connection can be closed at once: by then that answer
    /// has arrived, so that a reset cannot take it away. One that answered later lingers for as long.
    ///
    /// 250 ms: a round trip around the world.
    package var settleTime = Duration.milliseconds(250)

    /// Pipelined requests of one connection that are begun in one pass of the loop; the next ones
    /// wait for the next pass.
    ///
    /// 32: a batch is worth its reading, and other connections wait for no more than that.
    package var requestsPerIteration = 32

    /// How long a client may leave its answer unread before its connection can be closed because
    /// memory is short.
    ///
    /// 1 s: clients far away read in bursts.
    package var unreadGrace = Duration.seconds(1)

    /// The same where another request would be refused for want of memory.
    ///
    /// 100 ms: a client that reads has begun by then.
    package var unreadGraceMin = Duration.milliseconds(100)

    /// How long after a client ended its side, and each time again, it is asked whether it is still
    /// there. See `ServerConnection.probe`.
    package var probeInterval = Duration.milliseconds(25)

    /// Told in `Retry-After` with a 503, in seconds.
    package var retryAfter: UInt64 = 1

    package init() {}
}
