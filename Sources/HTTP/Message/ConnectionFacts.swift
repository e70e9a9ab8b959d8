package import Basics

/// Facts of a client's connection other than its address.
package final class ConnectionFacts: Sendable {
    /// Whether the connection is encrypted.
    package let isSecure: Bool
    /// Proved by the client's certificate; nil without one.
    package let identity: PeerIdentity?
    /// Where every request is sent; nil if they are served.
    package let redirect: HTTPSRedirect?
    /// The version of TLS, such as `1.3`; nil without encryption.
    package let tlsVersion: StaticString?
    /// The address of the listener, as configured; nil if it has no name.
    package let listener: String?

    package init(
        isSecure: Bool, identity: PeerIdentity? = nil, redirect: HTTPSRedirect? = nil,
        tlsVersion: StaticString? = nil, listener: String? = nil
    ) {
        self.isSecure = isSecure
        self.identity = identity
        self.redirect = redirect
        self.tlsVersion = tlsVersion
        self.listener = listener
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
