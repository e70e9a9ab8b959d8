package import HTTP
package import Reactor

/// What the server does with the connections of one listener.
package struct ListenerSettings: Sendable {
    /// Nil for connections without TLS.
    package var security: ServerSecurity?
    /// From accepting a connection to the end of its handshake.
    package var handshakeTimeout = Duration.seconds(10)
    /// The protocols of its clients. With TLS the handshake selects one; without it HTTP/2 begins with
    /// its preface (RFC 9113 3.3).
    package var protocols: Set<ApplicationProtocol> = [.http1]
    /// Where every request is sent; nil to serve them.
    package var redirect: HTTPSRedirect?

    /// The address as configured, for the access log.
    package var name: String?

    package init() {}

    var hasTLS: Bool { security != nil }

    /// What is known about a connection without TLS.
    var plainFacts: ConnectionFacts? {
        guard redirect != nil || name != nil else { return nil }
        return ConnectionFacts(isSecure: false, redirect: redirect, listener: name)
    }
}

/// A protocol that clients may use.
package enum ApplicationProtocol: Sendable {
    case http1, http2
}
