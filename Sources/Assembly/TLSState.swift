package import Gateway
package import HTTPServer
import TLS

/// The state of the listeners with TLS on one worker. As a value that may cross threads.
package struct TLSState: Sendable {
    package var handshakes = HandshakeCounts()
    package var inProgress = 0
    package var inProgressMax = 0
    package var certificates: [Certificate] = []

    package init() {}

    package struct Certificate: Sendable, Equatable {
        /// The first of its DNS names.
        package let name: String
        /// In seconds since 1970.
        package let notAfter: Int64
    }

    /// Nil without a listener with TLS. Of several certificates with the same name, the one that
    /// expires first counts.
    package init?(_ listeners: [ListenPlan]) {
        let contexts = listeners.compactMap { $0.tls?.context }
        guard !contexts.isEmpty else { return nil }
        for facts in contexts.flatMap(\.certificateFacts) {
            guard let name = facts.names.first else { continue }
            let certificate = Certificate(name: name, notAfter: facts.notAfter)
            if let index = certificates.firstIndex(where: { $0.name == name }) {
                if certificates[index].notAfter > facts.notAfter {
                    certificates[index] = certificate
                }
            } else {
                certificates.append(certificate)
            }
        }
    }

    /// Adds the state of another worker, which has the same certificates.
    package mutating func add(_ other: TLSState) {
        handshakes.add(other.handshakes)
        inProgress += other.inProgress
        inProgressMax += other.inProgressMax
    }
}
