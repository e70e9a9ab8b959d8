import Basics
import GatewayConfig

/// `certificate:`, which identities are accepted.
package struct CertificateRule: Sendable {
    /// Of which one must match one name; empty for every verified certificate.
    let patterns: [NamePattern]

    func accepts(_ identity: PeerIdentity) -> Bool {
        patterns.isEmpty
            || identity.alternativeNames.contains { name in
                patterns.contains { $0.matches(name) }
            }
    }

    /// `certificate with spiffe://shop/*`
    var text: String {
        patterns.isEmpty
            ? "certificate" : "certificate with \(patterns.map(\.text).joined(separator: " or "))"
    }
}
