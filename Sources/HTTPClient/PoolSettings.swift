package import HTTP
package import Reactor

/// How a pool behaves: one backend's part of the configuration, in this core's share.
package struct PoolSettings: Equatable, Sendable {
    /// The most idle connections that are kept; the oldest is closed when there would be more.
    ///
    /// 1024: a bound for memory. The pool keeps no more than were in use at once within
    /// `idleTimeout`, see `PoolStateMachine`.
    package var maxIdle = 1024

    /// How long a connection may idle before it is closed.
    package var idleTimeout = Duration.seconds(60)

    /// The name look-up and the connecting together, all addresses of the host included, and what
    /// `security` takes.
    package var connectTimeout = Duration.seconds(1)

    /// Connections open at once; more calls than that wait in order. Nil means no limit.
    package var maxConnections: Int?

    /// How long the addresses of a name are trusted.
    ///
    /// 30 s: the name service's own figure does not come through `getaddrinfo`.
    package var dnsTTL = Duration.seconds(30)

    /// Addresses of a name that one attempt tries.
    ///
    /// 4: `connectTimeout` is divided among them, and a smaller share would fail slow networks.
    package var addressesTried = 4

    /// What is put over every connection before it is used; nil speaks plainly.
    package var security: StreamSecurity?

    /// The limits of the answers' wire.
    package var limits = Limits()

    package init() {}
}
