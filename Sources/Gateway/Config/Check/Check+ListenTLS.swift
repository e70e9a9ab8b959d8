import Basics
import TLS
import YAMLReader

/// The rules for `tls` of a listener: its files must exist, belong together and be usable.
extension ConfigCheck {
    mutating func checkTLS(_ tls: Config.ListenTLS, of listen: Config.Listen) {
        let errorCount = problems.errorCount
        checkKeys(of: tls)
        // A file that could not be read has been reported already.
        guard wasRead, problems.errorCount == errorCount else { return }
        do throws(TLSServerSettingsError) {
            let context = try contexts.context(for: TLSServerSettings(tls, of: listen))
            for (identity, facts) in zip(tls.identities, context.certificateFacts) {
                check(facts, of: identity)
            }
        } catch {
            report(error, in: tls)
        }
    }

    private mutating func checkKeys(of tls: Config.ListenTLS) {
        if let key = tls.key, tls.cert == nil, isRead("cert", of: tls.location) {
            problems.error(at: key.location, "'key' needs 'cert' in 'tls' of 'listen'")
        }
        if let cert = tls.cert, tls.key == nil, isRead("key", of: tls.location) {
            problems.error(at: cert.location, "'cert' needs 'key' in 'tls' of 'listen'")
        }
        if let version = tls.minVersion, version.value == .tls12, tls.policy?.value == .modern {
            problems.error(
                at: version.location,
                "'min_version: 1.2' contradicts 'policy: modern', which is 1.3")
        }
        if let certificate = tls.clientCertificate, tls.clientCA == nil,
            isRead("client_ca", of: tls.location)
        {
            problems.error(
                at: certificate.location, "'client_certificate' has no effect without 'client_ca'")
        }
    }

    private mutating func report(_ error: TLSServerSettingsError, in tls: Config.ListenTLS) {
        let identities = tls.identities
        switch error {
        case .certificate(let index, let message):
            let file = identities[index].cert
            problems.error(at: file?.location ?? tls.location, "'cert' \(message)")
        case .key(let index, let message):
            let title = identities[index].cert?.value.title ?? ""
            problems.error(
                at: identities[index].key?.location ?? tls.location,
                message == TLSCertificate.mismatch
                    ? "'key' does not match 'cert' (\(title))" : "'key' \(message)")
        case .clients(let message):
            problems.error(at: tls.clientCA?.location ?? tls.location, "'client_ca' \(message)")
        case .context(let message):
            problems.error(at: tls.location, "'tls' of 'listen': \(message)")
        }
    }

    private mutating func check(_ facts: TLSCertificate, of identity: Config.ListenCertificate) {
        guard let cert = identity.cert else { return }
        let title = "certificate \(cert.value.title)"
        if facts.names.isEmpty {
            problems.error(
                at: cert.location,
                "\(title) has no DNS name; clients verify the DNS names of a certificate")
        }
        if facts.mustStaple {
            problems.error(
                at: cert.location,
                "\(title) requires a stapled OCSP response, which is not supported; request one"
                    + " without must-staple")
        }
        checkValidity(of: facts, title, at: cert.location)
        if !facts.isChainInOrder {
            problems.warning(
                at: cert.location,
                "the chain of \(title) is out of order or incomplete; the own certificate comes"
                    + " first, then the one that signed it, and so on")
        }
        if case .rsa(let bits) = facts.keyType, bits > Self.rsaBitsMax {
            problems.warning(
                at: identity.key?.location ?? cert.location,
                "the key of \(title) is RSA with \(bits) bits, which costs 3.4 ms of CPU per"
                    + " handshake; use ECDSA P-256, or RSA with 2048 bits")
        }
    }

    /// RSA with 4096 bits delays every other request of the worker by several milliseconds.
    private static let rsaBitsMax = 3072
    /// In seconds; by then a renewal has usually failed for some time.
    private static let renewalTime: Int64 = 14 * 86_400

    private mutating func checkValidity(
        of facts: TLSCertificate, _ title: String, at location: SourceLocation
    ) {
        guard let unixTime else { return }
        let day = DateText(unixTime: facts.notAfter)
        if facts.notAfter <= unixTime {
            problems.error(at: location, "\(title) expired on \(day)")
        } else if facts.notAfter - unixTime < Self.renewalTime {
            problems.warning(at: location, "\(title) expires on \(day), within 14 days")
        }
    }
}
