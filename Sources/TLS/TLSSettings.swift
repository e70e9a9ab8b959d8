package import Basics

/// What a client's secure connections are held to: the contents of files, in PEM.
package struct TLSSettings: Sendable, Equatable {
    /// The certificates that the other side's must be signed by; nil accepts any, from anybody.
    package var trusted: Bytes?

    /// What is shown to a server that asks who is there.
    package var identity: TLSIdentity?

    /// The name that is asked for and checked, where it is not the host that is connected to.
    package var serverName: String?

    package init(trusted: Bytes?, identity: TLSIdentity? = nil, serverName: String? = nil) {
        self.trusted = trusted
        self.identity = identity
        self.serverName = serverName
    }
}

/// A certificate, the ones between it and a trusted one, and the key that goes with it.
package struct TLSIdentity: Sendable, Equatable {
    package let certificate: Bytes
    package let key: Bytes

    package init(certificate: Bytes, key: Bytes) {
        self.certificate = certificate
        self.key = key
    }
}

/// Which of the settings cannot be used, and why.
package enum TLSSettingsError: Error, Equatable {
    case trusted(String)
    case certificate(String)
    case key(String)
    /// None of them; OpenSSL itself said no.
    case context(String)
}
