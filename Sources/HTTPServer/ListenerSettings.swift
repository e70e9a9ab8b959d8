package import HTTP
package import Reactor

/// What the server does with the connections of one listener.
package struct ListenerSettings: Sendable {
    /// Nil for connections without TLS.
    package var security: ServerSecurity?
    /// From accepting a connection to the end of its handshake.
    package var handshakeTimeout = Duration.seconds(10)
    /// Where every request is sent; nil to serve them.
    package var redirect: HTTPSRedirect?

    package init() {}

    /// What is known about a connection without TLS.
    var plainFacts: ConnectionFacts? {
        redirect.map { ConnectionFacts(isSecure: false, redirect: $0) }
    }
}
