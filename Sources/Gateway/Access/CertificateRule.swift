import Basics
import GatewayConfig

/// `certificate:`, which identities are accepted.
package struct CertificateRule: Sendable {
    /// Of which one must match one name; empty for every verified certificate.
    let patterns: [NamePattern]

    /// The name by which an identity is accepted, which is the caller's; nil if it is not.
    func acceptedName(of identity: PeerIdentity) -> String? {
        guard !patterns.isEmpty else { return identity.name }
        return identity.firstName { name in
            patterns.contains { $0.isURI == (name.kind == .uri) && $0.matches(name.text) }
        }
    }

    /// `certificate with spiffe://shop/*`
    var text: String {
        patterns.isEmpty
            ? "certificate" : "certificate with \(patterns.map(\.text).joined(separator: " or "))"
    }
}
