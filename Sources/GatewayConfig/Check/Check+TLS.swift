package import TLS
import YAMLReader

/// The rules for TLS to backends.
extension ConfigCheck {
    /// The files that `https://` needs must exist and be usable.
    mutating func checkTLS(of backend: Config.Backend) {
        guard let host = backend.secureHost else {
            if let tls = backend.tls, !backend.hosts.isEmpty {
                problems.error(
                    at: tls.location,
                    "'tls' of backend '\(backend.name.value)' needs a host with https://")
            }
            return
        }
        if let plain = backend.plainHost {
            problems.warning(
                at: plain.location,
                "backend '\(backend.name.value)' has hosts with https:// and this one without:"
                    + " its traffic can be intercepted and modified")
        }
        if let tls = backend.tls { checkKeys(of: tls, backend.name.value) }
        // A file that could not be read has been reported already.
        guard wasRead else { return }
        if backend.needsSystemTrust, config.systemTrust == nil {
            problems.error(
                at: host.location,
                "backend '\(backend.name.value)' needs a list of trusted CA certificates, and this"
                    + " system has none: install ca-certificates, or set SSL_CERT_FILE or"
                    + " 'tls: { ca: FILE }'")
            return
        }
        checkFiles(of: backend, host.location)
    }

    private mutating func checkKeys(of tls: Config.Backend.TLS, _ name: String) {
        if let verify = tls.verify, !verify.value {
            problems.warning(
                at: verify.location,
                "'verify: false' disables certificate verification for backend '\(name)': traffic"
                    + " can be intercepted and modified")
            if let ca = tls.ca {
                problems.warning(at: ca.location, "'ca' has no effect with 'verify: false'")
            }
        }
        guard wasRead else { return }
        for (one, other, message) in [
            (tls.cert, tls.key, "'cert' needs 'key'"), (tls.key, tls.cert, "'key' needs 'cert'"),
        ] {
            if let one, other == nil {
                problems.error(at: one.location, "\(message) in 'tls' of backend '\(name)'")
            }
        }
    }

    /// Creates the TLS context that the plan will use.
    private mutating func checkFiles(of backend: Config.Backend, _ hostLocation: SourceLocation) {
        let tls = backend.tls
        do throws(TLSSettingsError) {
            _ = try contexts.context(
                for: try TLSSettings(of: backend, systemTrust: config.systemTrust))
        } catch {
            let ofBackend = "in 'tls' of backend '\(backend.name.value)'"
            let (file, text): (Located<Config.File>?, String) =
                switch error {
                case .trusted(let message):
                    if let ca = tls?.ca {
                        (ca, "'ca' \(ofBackend) \(message)")
                    } else {
                        (nil, "\(config.systemTrust?.title ?? "the system's list") \(message)")
                    }
                case .certificate(let message): (tls?.cert, "'cert' \(ofBackend) \(message)")
                case .key(let message): (tls?.key, "'key' \(ofBackend) \(message)")
                case .context(let message):
                    (nil, "'tls' of backend '\(backend.name.value)': \(message)")
                }
            problems.error(at: file?.location ?? hostLocation, text)
        }
    }
}

extension TLSSettings {
    /// The settings of a backend's `tls`.
    package init(of backend: Config.Backend, systemTrust: Config.File?) throws(TLSSettingsError) {
        let tls = backend.tls
        if tls?.verify?.value == false {
            self.init(trust: .unverified)
        } else if let authorities = (tls?.ca?.value ?? systemTrust)?.bytes {
            self.init(trust: .signed(by: authorities))
        } else {
            throw .trusted("there is no list of trusted CA certificates")
        }
        serverName = tls?.serverName?.value
        if let certificate = tls?.cert?.value.bytes, let key = tls?.key?.value.bytes {
            identity = TLSIdentity(certificate: certificate, key: key)
        }
    }
}
