package import TLS
import YAMLReader

/// What connects with TLS: a backend, the exporter of traces, or the store.
struct TLSClient {
    /// As messages name it: `backend 'a'`.
    let title: String
    let tls: Config.Backend.TLS?
    /// Where its first secure host is written; nil without one.
    let secureHost: SourceLocation?
    /// The scheme of a secure host.
    var scheme = "https://"
    /// Whether it has hosts, of whatever scheme.
    let hasHosts: Bool
    let needsSystemTrust: Bool
}

/// The rules for TLS to backends and to the collector of traces.
extension ConfigCheck {
    mutating func checkTLS(of backend: Config.Backend) {
        if backend.secureHost != nil, let plain = backend.plainHost {
            problems.warning(
                at: plain.location,
                "backend '\(backend.name.value)' has hosts with https:// and this one without:"
                    + " its traffic can be intercepted and modified")
        }
        checkTLS(
            TLSClient(
                title: "backend '\(backend.name.value)'", tls: backend.tls,
                secureHost: backend.secureHost?.location, hasHosts: !backend.hosts.isEmpty,
                needsSystemTrust: backend.needsSystemTrust))
    }

    /// The files that `https://` needs must exist and be usable.
    mutating func checkTLS(_ client: TLSClient) {
        guard let host = client.secureHost else {
            if let tls = client.tls, client.hasHosts {
                problems.error(
                    at: tls.location,
                    "'tls' of \(client.title) needs a host with \(client.scheme)")
            }
            return
        }
        if let tls = client.tls { checkKeys(of: tls, client.title) }
        // A file that could not be read has been reported already.
        guard wasRead else { return }
        if client.needsSystemTrust, config.systemTrust == nil {
            problems.error(
                at: host,
                "\(client.title) needs a list of trusted CA certificates, and this"
                    + " system has none: install ca-certificates, or set SSL_CERT_FILE or"
                    + " 'tls: { ca: FILE }'")
            return
        }
        checkFiles(of: client, host)
    }

    private mutating func checkKeys(of tls: Config.Backend.TLS, _ title: String) {
        if let verify = tls.verify, !verify.value {
            problems.warning(
                at: verify.location,
                "'verify: false' disables certificate verification for \(title): traffic"
                    + " can be intercepted and modified")
            if let ca = tls.ca {
                problems.warning(at: ca.location, "'ca' has no effect with 'verify: false'")
            }
        }
        guard isRead("cert", "key", of: tls.location) else { return }
        for (one, other, message) in [
            (tls.cert, tls.key, "'cert' needs 'key'"), (tls.key, tls.cert, "'key' needs 'cert'"),
        ] {
            if let one, other == nil {
                problems.error(at: one.location, "\(message) in 'tls' of \(title)")
            }
        }
    }

    /// Creates the TLS context that the plan will use.
    private mutating func checkFiles(of client: TLSClient, _ hostLocation: SourceLocation) {
        let tls = client.tls
        do throws(TLSSettingsError) {
            _ = try contexts.context(for: try TLSSettings(tls, systemTrust: config.systemTrust))
        } catch {
            let owner = "in 'tls' of \(client.title)"
            let (file, text): (Located<Config.File>?, String) =
                switch error {
                case .trusted(let message):
                    if let ca = tls?.ca {
                        (ca, "'ca' \(owner) \(message)")
                    } else {
                        (nil, "\(config.systemTrust?.title ?? "the system's list") \(message)")
                    }
                case .certificate(let message): (tls?.cert, "'cert' \(owner) \(message)")
                case .key(let message): (tls?.key, "'key' \(owner) \(message)")
                case .context(let message): (nil, "'tls' of \(client.title): \(message)")
                }
            problems.error(at: file?.location ?? hostLocation, text)
        }
    }
}

extension TLSSettings {
    /// The settings of a `tls` block; nil for the defaults.
    package init(
        _ tls: Config.Backend.TLS?, systemTrust: Config.File?
    ) throws(TLSSettingsError) {
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
