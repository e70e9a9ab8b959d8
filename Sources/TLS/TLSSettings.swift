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

/// The trusted certificates. Not an optional, so that a missing value cannot disable verification.
package enum TLSTrust: Sendable, Equatable {
    /// Certificates that one of these signed, in PEM.
    case signed(by: Bytes)
    /// Any certificate, without verification.
    case unverified
}

/// A certificate, its intermediate certificates, and its private key.
package struct TLSIdentity: Sendable, Equatable, CustomReflectable, CustomStringConvertible {
    package let certificate: Bytes
    package let key: Bytes

    package init(certificate: Bytes, key: Bytes) {
        self.certificate = certificate
        self.key = key
    }

    /// Logs and dumps must not contain the key.
    package var description: String { "a certificate and its key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The invalid setting, and the reason.
package enum TLSSettingsError: Error, Equatable {
    case trusted(String)
    case certificate(String)
    case key(String)
    /// No particular setting; OpenSSL rejected the context.
    case context(String)
}
