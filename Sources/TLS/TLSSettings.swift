package import Basics

/// What a client's secure connections are held to: the contents of files, in PEM.
package struct TLSSettings: Sendable, Equatable {
    package var trust: TLSTrust

    /// What is shown to a server that asks who is there.
    package var identity: TLSIdentity?

    /// The name that is asked for and checked, where it is not the host that is connected to.
    package var serverName: String?

    package init(trust: TLSTrust, identity: TLSIdentity? = nil, serverName: String? = nil) {
        self.trust = trust
        self.identity = identity
        self.serverName = serverName
    }
}

/// Whose certificates are believed. Not an optional: what is missing must not mean that nothing is
/// checked.
package enum TLSTrust: Sendable, Equatable {
    /// Those that one of these stands for, in PEM.
    case signed(by: Bytes)
    /// Any, from anybody.
    case anybody
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
    /// None of them; OpenSSL itself said no.
    case context(String)
}
