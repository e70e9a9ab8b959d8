package import YAMLReader

extension Config {
    /// `tls:` of a listener.
    package struct ListenTLS: Sendable {
        package let location: SourceLocation
        package var certificates: Located<[ListenCertificate]>?
        /// The only certificate, instead of `certificates`.
        package var cert: Located<File>?
        package var key: Located<File>?
        package var unknownName: Located<UnknownName>?
        package var policy: Located<Policy>?
        package var minVersion: Located<Version>?
        package var clientCA: Located<File>?
        package var clientCertificate: Located<ClientCertificate>?
        package var tickets: Located<Tickets>?
        package var handshakeTimeout: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// The entries of `certificates`, or the only certificate.
        package var identities: [ListenCertificate] {
            if let certificates { return certificates.value }
            guard cert != nil || key != nil else { return [] }
            var certificate = ListenCertificate(location: location)
            certificate.cert = cert
            certificate.key = key
            return [certificate]
        }
    }

    /// An entry of `certificates:`.
    package struct ListenCertificate: Sendable {
        package let location: SourceLocation
        package var cert: Located<File>?
        package var key: Located<File>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.ListenTLS {
    /// The response to a server name without a certificate.
    package enum UnknownName: String, Sendable, CaseIterable {
        case first, refuse
    }

    /// The recommendations of Mozilla for servers, by their names.
    package enum Policy: String, Sendable, CaseIterable {
        case intermediate, modern
    }

    package enum Version: String, Sendable, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    package enum ClientCertificate: String, Sendable, CaseIterable {
        case required, optional
    }

    /// `tickets:`, whether sessions are resumed.
    package enum Tickets: Sendable, Equatable {
        case off
        /// How long a ticket key encrypts new tickets.
        case lifetime(Duration)
    }
}
