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
        } else if let ca = node["ca_certs"]?.texts.first {
            members.append(("ca", .text(ca)))
        }
        if let client = node["client_certs"]?.elements.first,
            let certificate = client["certificate"]?.text, let key = client["private_key"]?.text
        {
            members.append(("cert", .text(certificate)))
            members.append(("key", .text(key)))
        }
        return members.isEmpty ? nil : .inline(members)
    }

    /// Reports the settings that are not in `tree`.
    func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: Self.losses)
        }
        for (key, what) in [("ca_certs", "file"), ("client_certs", "certificate")] {
            guard let list = node[key], list.elements.count > 1 else { continue }
            findings.warning(
                at: list.location, "'\(key)' has several entries; only the first \(what) is used")
        }
        if let ca = node["ca_certs"], !ca.texts.isEmpty,
            node["disable_system_ca_pool"]?.flag != true
        {
            findings.warning(
                at: ca.location, "'ca' replaces the system's trusted CAs; KrakenD trusts both")
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
