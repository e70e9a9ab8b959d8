package import Basics

/// The settings of TLS connections to servers: the contents of files, in PEM.
package struct TLSSettings: Sendable, Equatable {
    package var trust: TLSTrust

    /// The client certificate, sent to a server that requests one.
    package var identity: TLSIdentity?

    /// The server name that is sent and verified, if it is not the host of the connection.
    package var serverName: String?

    package init(trust: TLSTrust, identity: TLSIdentity? = nil, serverName: String? = nil) {
        self.trust = trust
        self.identity = identity
        self.serverName = serverName
    }
}

/// The trusted certificates. Not an optional: a missing value must not mean that nothing is
/// checked.
package enum TLSTrust: Sendable, Equatable {
    /// Those signed by one of these, in PEM.
    case signed(by: Bytes)
    /// Any, from anybody.
    case unverified
}

/// A certificate, the ones between it and a trusted one, and the key that goes with it.
package struct TLSIdentity: Sendable, Equatable, CustomReflectable, CustomStringConvertible {
    package let certificate: Bytes
    package let key: Bytes

    package init(certificate: Bytes, key: Bytes) {
        self.certificate = certificate
        self.key = key
    }

    /// No log line and no dump shows the key.
    package var description: String { "a certificate and its key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Which of the settings cannot be used, and why.
package enum TLSSettingsError: Error, Equatable {
    case trusted(String)
    case certificate(String)
    case key(String)
    /// None of them; OpenSSL rejected it.
    case context(String)
}
