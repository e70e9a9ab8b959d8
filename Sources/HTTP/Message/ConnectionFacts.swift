package import Basics

/// What the gateway knows about a client's connection besides its address. A plain connection whose
/// requests are served has none.
package final class ConnectionFacts: Sendable {
    /// Whether the connection is encrypted.
    package let isSecure: Bool
    /// Proved by the client's certificate; nil without one.
    package let identity: PeerIdentity?
    /// Where every request is sent; nil if they are served.
    package let redirect: HTTPSRedirect?

    package init(
        isSecure: Bool, identity: PeerIdentity? = nil, redirect: HTTPSRedirect? = nil
    ) {
        self.isSecure = isSecure
        self.identity = identity
        self.redirect = redirect
    }
}

/// Sends clients to the same host and target with https.
package struct HTTPSRedirect: Sendable, Equatable {
    /// Nil for the default port.
    package let port: UInt16?

    package init(port: UInt16?) {
        self.port = port
    }
}
