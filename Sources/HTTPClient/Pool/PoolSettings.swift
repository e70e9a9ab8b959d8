package import HTTP
package import Reactor

/// The settings of a pool: one backend's part of the configuration, for one worker.
package struct PoolSettings: Equatable, Sendable {
    /// The most idle connections; beyond, the oldest is closed.
    ///
    /// 1024: a bound for memory. The pool keeps no more than were in use at once within
    /// `idleTimeout`, see `PoolStateMachine`.
    package var maxIdle = 1024

    /// How long a connection may idle before it is closed.
    package var idleTimeout = Duration.seconds(60)

    /// How long a connection gets calls; then it ends, with its last call.
    ///
    /// 5 min: a steady load follows a change of addresses or of a load balancer within that time, and
    /// a handshake costs nothing in comparison.
    package var maxAge = Duration.seconds(300)

    /// The time limit for look-up, connecting and the TLS handshake together, over all addresses of
    /// the host.
    package var connectTimeout = Duration.seconds(1)

    /// Connections open at once; further calls wait in order. Nil for no limit.
    package var maxConnections: Int?

    /// How long the addresses of a name are cached.
    ///
    /// 30 s: `getaddrinfo` does not return the time to live of the name service.
    package var dnsTTL = Duration.seconds(30)

    /// How long a connection waits for new addresses before it uses expired ones; at most a quarter
    /// of `connectTimeout`.
    ///
    /// 250 ms: most name services respond within that time.
    package var lookUpWaitMax = Duration.milliseconds(250)

    /// The most addresses of a name that one attempt tries.
    ///
    /// 4: `connectTimeout` is divided among them, and a smaller share would fail slow networks.
    package var addressesTried = 4

    /// Secures every connection before it is used; nil for plain connections.
    package var security: StreamSecurity?

    /// The protocol of the connections.
    package var protocolChoice = ProtocolChoice.http1

    /// For connections of HTTP/2.
    package var http2 = H2PoolSettings()

    /// The limits of the wire protocol for responses.
    package var limits = Limits()

    package init() {}
}
