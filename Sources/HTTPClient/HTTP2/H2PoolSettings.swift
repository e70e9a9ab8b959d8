import Basics

/// The settings of a pool for connections of HTTP/2.
package struct H2PoolSettings: Equatable, Sendable {
    /// Calls on one connection at once, unless the backend allows fewer.
    ///
    /// 100: what most servers allow.
    package var maxStreams = 100

    /// Connections open at once.
    ///
    /// 4: one lost packet delays a quarter of the calls, and 400 calls run at once.
    package var maxConnections = 4

    /// How long a connection with calls may receive nothing before it is tested with a PING.
    package var pingAfter = Duration.seconds(10)

    /// The time for the acknowledgement of a PING, after which the connection is closed.
    package var pingTimeout = Duration.seconds(2)

    package init() {}
}
