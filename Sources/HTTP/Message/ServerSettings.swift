/// The limits of one worker's server, without the limits of the wire protocol.
package struct ServerSettings: Sendable, Equatable {
    package var limits = Limits()

    /// Connections at once. A further one gets a 503 and is closed.
    package var connections = 10_000

    /// Whether a new connection near `connections` closes the one whose client has been silent the
    /// longest, also in the middle of a request or a response, and however short that is. For an
    /// address with few connections, which must respond to probes; others close idle ones only.
    package var closesSilent = false

    /// Connections beyond `connections` that may be open at once to receive their 503; others are
    /// closed without a response.
    package var refusedConnections = 64

    /// Connections at once of one client, over all workers; nil for no limit. A further one gets a
    /// 503 and is closed.
    package var connectionsPerClient: Int?

    /// Requests in flight at once, counted from the end of their bodies until little of their responses
    /// is unsent. A further one gets a 503.
    package var requestsInFlight = 2_000

    /// The same for one client, over all workers; nil for no limit.
    package var requestsPerClient: Int?

    /// Streamed responses and tunnels at once, counted from the end of their heads. A further one gets
    /// a 503.
    package var streams = 10_000

    /// Streams of one HTTP/2 connection at once. A further one is refused.
    ///
    /// 100: what RFC 9113 6.5.2 recommends at least, and what clients assume.
    package var streamsPerConnection = 100

    /// Whether clients of HTTP/2 may open a WebSocket on a stream (RFC 8441). Announced to each connection
    /// at its beginning.
    package var acceptsWebSocket = false

    /// TLS handshakes in progress at once. Further connections wait in the kernel's queue.
    ///
    /// 256: together they need less than 10 MiB, and the last of them waits for less than 100 ms.
    package var handshakes = 256

    /// The memory for all requests and connections at once, in bytes. Requests that would exceed it
    /// get a 503.
    ///
    /// 256 MiB: some hundreds of requests of the largest size, or tens of thousands of usual ones.
    package var bufferedBytes = 256 * 1024 * 1024

    /// The bytes that are stored of a client's next requests; then reading stops.
    ///
    /// 16 KiB: some small requests, or the first piece of a body that the service does not read
    /// yet.
    package var readAheadBytes = 16 * 1024

    /// The bytes that are discarded of an unread body after its response; beyond, the connection is
    /// closed instead.
    ///
    /// 64 KiB: cheaper than a new connection.
    package var discardedBytes = 64 * 1024

    /// How long a connection that the server closed still discards input, so that a reset does not
    /// destroy the response (RFC 9112 9.6).
    package var lingerTimeout = Duration.seconds(2)

    /// How long after its last response an idle connection can be closed at once: by then the
    /// response has arrived, so that a reset cannot destroy it. After a more recent response the
    /// connection lingers for as long.
    ///
    /// 250 ms: a round trip around the world.
    package var settleTime = Duration.milliseconds(250)

    /// How long the client of a TLS handshake may be silent before the handshake can be ended because
    /// `handshakes` is reached.
    ///
    /// 1 s: a lost packet is sent again by then.
    package var handshakeGrace = Duration.seconds(1)

    /// Pipelined requests of one connection that begin in one loop iteration; the next ones wait
    /// for the next iteration.
    ///
    /// 32: large enough for efficient reading, and small enough not to delay other connections.
    package var requestsPerIteration = 32

    /// How long a client may leave its response unread before its connection can be closed when
    /// memory is short.
    ///
    /// 1 s: distant clients read in bursts.
    package var unreadGrace = Duration.seconds(1)

    /// The same if another request would otherwise be rejected for lack of memory.
    ///
    /// 100 ms: a client that reads has begun by then.
    package var unreadGraceMin = Duration.milliseconds(100)

    /// The time between two probes of a client that half-closed its connection. See
    /// `ServerConnection.probe`.
    package var probeInterval = Duration.milliseconds(25)

    /// How long reading is paused before the connection watches for the end of its client.
    ///
    /// 10 ms: the call of a client that leaves ends within 50 ms, and the short pauses of an upload cost
    /// nothing.
    package var endWatchDelay = Duration.milliseconds(10)

    /// The share of the requests without `traceparent` that are sampled for a trace, in millionths.
    package var sampledShare = 0

    /// The value of `Retry-After` in a 503, in seconds.
    package var retryAfter: UInt64 = 1

    /// Header lines of every response, including the server's own responses, unless its exchange gets
    /// others (`Exchange.responseFields`). Encoded once; the writer only copies them.
    package var responseFields = Fields()

    package init() {}
}
