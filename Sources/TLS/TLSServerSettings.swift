package import Basics
package import Reactor

/// The settings of TLS connections of clients, for one listener: the contents of files, in PEM.
package struct TLSServerSettings: Sendable, Equatable {
    /// The recommendations of Mozilla for servers.
    package enum Policy: Sendable {
        case intermediate, modern
    }

    /// The certificates of clients.
    package struct Clients: Sendable, Equatable {
        /// The certificates that must have signed the certificates of clients.
        package let authorities: Bytes
        /// Whether a client needs a certificate.
        package let isRequired: Bool

        package init(authorities: Bytes, isRequired: Bool) {
            self.authorities = authorities
            self.isRequired = isRequired
        }
    }

    /// At least one; the first is sent for unknown names.
    package var certificates: [TLSIdentity]
    /// Whether a handshake fails if no certificate has the server name, or if the client sends none.
    package var refusesUnknownNames = false
    package var policy = Policy.intermediate
    package var minVersion = SecureSession.Version.tls12
    /// Nil requests no certificate.
    package var clients: Clients?
    /// How long a ticket key encrypts new tickets; nil disables resumption.
    package var ticketLifetime: Duration?
    /// In the order of preference.
    package var protocols = ["http/1.1"]
    /// Identifies the listener: a session of one cannot be resumed at another.
    package var listener = ""

    package init(certificates: [TLSIdentity]) {
        self.certificates = certificates
    }
}

/// The invalid setting of a listener, and the reason.
package enum TLSServerSettingsError: Error, Equatable {
    /// The certificate or key with this index.
    case certificate(Int, String)
    case key(Int, String)
    case clients(String)
    /// No particular setting; OpenSSL rejected the context.
    case context(String)
}
