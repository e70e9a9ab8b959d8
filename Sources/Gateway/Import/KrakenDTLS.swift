import YAMLReader

/// A `client_tls` of KrakenD as a backend's `tls`.
struct KrakenDTLS {
    private let node: DocumentNode

    init(_ node: DocumentNode) {
        self.node = node
    }

    /// Nil where nothing is to be said.
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
    func tellWhatIsLost(_ problems: inout Problems) {
        for member in node.members where !Self.known.contains(member.key) {
            problems.lost(member, among: Self.reasons)
        }
        for (key, what) in [("ca_certs", "file"), ("client_certs", "certificate")] {
            guard let list = node[key], list.elements.count > 1 else { continue }
            problems.warning(
                at: list.place, "'\(key)' has several; only the first \(what) is taken")
        }
        if let ca = node["ca_certs"], !ca.texts.isEmpty,
            node["disable_system_ca_pool"]?.flag != true
        {
            problems.warning(
                at: ca.place, "'ca' stands for the system's certificates, not beside them")
        }
    }

    private static let known: Set<String> = [
        "allow_insecure_connections", "ca_certs", "client_certs", "disable_system_ca_pool",
    ]

    private static let reasons = [
        "min_version": versions, "max_version": versions, "cipher_suites": choice,
        "curve_preferences": choice,
    ]
    private static let versions = "TLS 1.2 and 1.3 are spoken"
    private static let choice = "OpenSSL and the backend agree on it"
}
