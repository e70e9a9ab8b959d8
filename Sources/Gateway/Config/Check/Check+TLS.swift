import TLS
import YAMLReader

extension ConfigCheck {
    /// What `https://` needs is there and can be used.
    mutating func checkTLS(of backend: Config.Backend) {
        guard let host = backend.secureHost else {
            if let tls = backend.tls, !backend.hosts.isEmpty {
                problems.error(
                    at: tls.place,
                    "'tls' of backend '\(backend.name.value)' needs a host with https://")
            }
            return
        }
        if let tls = backend.tls { checkKeys(of: tls, backend.name.value) }
        // A file that could not be read was told of already.
        guard wasRead else { return }
        if backend.needsSystemTrust, config.systemTrust == nil {
            problems.error(
                at: host.place,
                "there is no list of trusted certificates on this system (ca-certificates);"
                    + " backend '\(backend.name.value)' needs one: 'tls: { ca: FILE }'")
            return
        }
        checkFiles(of: backend, host.place)
    }

    private mutating func checkKeys(of tls: Config.Backend.TLS, _ name: String) {
        if let verify = tls.verify, !verify.value {
            problems.warning(
                at: verify.place,
                "the certificate of backend '\(name)' is not checked: whoever stands between can"
                    + " read and change everything")
            if let ca = tls.ca {
                problems.warning(at: ca.place, "'ca' means nothing with 'verify: false'")
            }
        }
        guard wasRead else { return }
        for (one, other, words) in [
            (tls.cert, tls.key, "'cert' needs 'key'"), (tls.key, tls.cert, "'key' needs 'cert'"),
        ] {
            if let one, other == nil {
                problems.error(at: one.place, "\(words) in 'tls' of backend '\(name)'")
            }
        }
    }

    /// Tries what the plan will do.
    private mutating func checkFiles(of backend: Config.Backend, _ hostPlace: Place) {
        let tls = backend.tls
        do throws(TLSSettingsError) {
            _ = try config.contexts.context(
                for: TLSSettings(of: backend, systemTrust: config.systemTrust))
        } catch {
            let (file, key, words): (Placed<Config.File>?, String, String) =
                switch error {
                case .trusted(let words): (tls?.ca, "ca", words)
                case .certificate(let words): (tls?.cert, "cert", words)
                case .key(let words): (tls?.key, "key", words)
                case .context(let words): (nil, "tls", words)
                }
            let path = file?.value.path ?? config.systemTrust?.path ?? ""
            let what = file == nil ? path : "'\(key)' in 'tls' of backend '\(backend.name.value)'"
            problems.error(at: file?.place ?? hostPlace, "\(what) \(words)")
        }
    }
}

extension TLSSettings {
    /// What a backend's `tls` means.
    init(of backend: Config.Backend, systemTrust: Config.File?) {
        let tls = backend.tls
        let isChecked = tls?.verify?.value ?? true
        self.init(trusted: isChecked ? (tls?.ca?.value ?? systemTrust)?.bytes : nil)
        serverName = tls?.serverName?.value
        if let certificate = tls?.cert?.value.bytes, let key = tls?.key?.value.bytes {
            identity = TLSIdentity(certificate: certificate, key: key)
        }
    }
}
