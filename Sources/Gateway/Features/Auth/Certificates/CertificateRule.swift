import Basics

/// `certificate:`, which identities are accepted.
package struct CertificateRule: Sendable {
    /// Of which one must match one name; empty for every verified certificate.
    let patterns: [NamePattern]

    /// The name by which an identity is accepted, which is the caller's; nil if it is not, also where a
    /// certificate has no name: all such clients would be one caller.
    func acceptedName(of identity: PeerIdentity) -> String? {
        let name =
            patterns.isEmpty
            ? identity.name
            : identity.firstName { name in
                patterns.contains { $0.isURI == (name.kind == .uri) && $0.matches(name.text) }
            }
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `certificate with spiffe://shop/*`
    var text: String {
        patterns.isEmpty
            ? "certificate" : "certificate with \(patterns.map(\.text).joined(separator: " or "))"
    }
}
