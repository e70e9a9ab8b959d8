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

    /// How old the addresses of a name may be before it is looked up again.
    ///
    /// 30 s: `getaddrinfo` does not tell the name service's own time to live.
    package var dnsTTL = Duration.seconds(30)

    /// How long a connection waits for new addresses when it has expired ones, which it uses then; at
    /// most a quarter of `connectTimeout`.
    ///
    /// 250 ms: most name services answer within that time.
    package var lookUpWaitMax = Duration.milliseconds(250)

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
