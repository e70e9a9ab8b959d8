import YAMLReader

/// A `client_tls` of KrakenD as a backend's `tls`.
struct KrakenDTLS {
    private let node: DocumentNode

    init(_ node: DocumentNode) {
        self.node = node
    }

    /// Nil where there is nothing to write.
    var tree: YAMLTree? {
        var members: [(String, YAMLTree)] = []
        if node["allow_insecure_connections"]?.flag == true {
            members.append(("verify", .plain("false")))
        } else if let ca = node["ca_certs"]?.texts.first {
            members.append(("ca", .text(ca)))
        }
        if let shown = node["client_certs"]?.elements.first,
            let certificate = shown["certificate"]?.text, let key = shown["private_key"]?.text
        {
            members.append(("cert", .text(certificate)))
            members.append(("key", .text(key)))
        }
        return members.isEmpty ? nil : .inline(members)
    }

    /// What of it is not in `tree`.
    func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where !Self.known.contains(member.key) {
            findings.lost(member, among: Self.losses)
        }
        for (key, what) in [("ca_certs", "file"), ("client_certs", "certificate")] {
            guard let list = node[key], list.elements.count > 1 else { continue }
            findings.warning(
                at: list.location, "'\(key)' has several; only the first \(what) is taken")
        }
        if let ca = node["ca_certs"], !ca.texts.isEmpty,
            node["disable_system_ca_pool"]?.flag != true
        {
            findings.warning(
                at: ca.location, "'ca' replaces the system's certificates; KrakenD trusts both")
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
    private static let choice = ImportLoss.note("OpenSSL and the backend agree on it")
}
