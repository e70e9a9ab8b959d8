import YAMLReader

/// Converts a `client_tls` of KrakenD to a backend's `tls`.
struct KrakenDTLS {
    private let node: DocumentNode

    init(_ node: DocumentNode) {
        self.node = node
    }

    /// Nil if there is nothing to write.
    var tree: YAMLTree? {
        var members: [(String, YAMLTree)] = []
        if node["allow_insecure_connections"]?.flag == true {
            members.append(("verify", .plain("false")))
        } else if let authority {
            members.append(("ca", .text(authority)))
        }
        if let certificate {
            members.append(("cert", .text(certificate.file)))
            members.append(("key", .text(certificate.key)))
        }
        return members.isEmpty ? nil : .inline(members)
    }

    /// The file with the CA of the backend's certificate; nil if no file is named.
    private var authority: String? { node["ca_certs"]?.texts.first { !$0.isEmpty } }

    /// The files of the first client certificate; nil if one of them is not named.
    private var certificate: (file: String, key: String)? {
        guard let client = node["client_certs"]?.elements.first,
            let file = client["certificate"]?.text, let key = client["private_key"]?.text,
            !file.isEmpty, !key.isEmpty
        else { return nil }
        return (file, key)
    }

    /// Reports the settings that are not in `tree`.
    func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where !Self.known.contains(member.key) {
            guard member.key != "min_version" || member.node.text != "TLS13" else {
                findings.warning(
                    at: member.keyLocation,
                    "'min_version' is left out: connections use TLS 1.3, or 1.2 if the backend does not"
                        + " know it")
                continue
            }
            findings.reportLoss(of: member, among: Self.losses)
        }
        for (key, what) in [("ca_certs", "file"), ("client_certs", "certificate")] {
            guard let list = node[key], list.elements.count > 1 else { continue }
            findings.warning(
                at: list.location, "'\(key)' has several entries; only the first \(what) is used")
        }
        reportAuthority(&findings)
        if let client = node["client_certs"]?.elements.first, certificate == nil {
            findings.warning(
                at: client.location,
                "a certificate is left out: 'certificate' and 'private_key' belong together")
        }
    }

    private func reportAuthority(_ findings: inout ImportFindings) {
        guard let list = node["ca_certs"], !list.texts.isEmpty else { return }
        guard authority != nil else {
            return findings.warning(
                at: list.location, "'ca_certs' is left out: it names no file")
        }
        if node["disable_system_ca_pool"]?.flag != true {
            findings.warning(
                at: list.location, "'ca' replaces the system's trusted CAs; KrakenD trusts both")
        }
    }

    private static let known: Set<String> = [
        "allow_insecure_connections", "ca_certs", "client_certs", "disable_system_ca_pool",
    ]

    private static let losses: [String: ImportLoss] = [
        "min_version": versions, "max_version": versions, "cipher_suites": choice,
        "curve_preferences": choice,
    ]
    private static let versions = ImportLoss.note("connections use TLS 1.2 or 1.3")
    private static let choice = ImportLoss.note("OpenSSL negotiates it with the backend")
}
