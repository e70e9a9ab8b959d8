import Basics
import Reactor
package import TLS

/// The settings of a listener's TLS, from its block.
extension TLSServerSettings {
    /// - Parameter listen: a block whose required values are present
    package init(_ tls: Config.ListenTLS, of listen: Config.Listen) {
        self.init(
            certificates: tls.identities.map { identity in
                TLSIdentity(
                    certificate: identity.cert?.value.bytes ?? Bytes(),
                    key: identity.key?.value.bytes ?? Bytes())
            })
        refusesUnknownNames = (tls.unknownName?.value ?? PlanDefaults.unknownName) == .refuse
        switch tls.policy?.value ?? PlanDefaults.tlsPolicy {
        case .intermediate: policy = .intermediate
        case .modern: policy = .modern
        }
        if policy == .modern || tls.minVersion?.value == .tls13 { minVersion = .tls13 }
        clients = tls.clientCA.map { file in
            Clients(
                authorities: file.value.bytes,
                isRequired: (tls.clientCertificate?.value ?? PlanDefaults.clientCertificate)
                    == .required)
        }
        switch tls.tickets?.value ?? .lifetime(PlanDefaults.ticketLifetime) {
        case .off: ticketLifetime = nil
        case .lifetime(let lifetime): ticketLifetime = lifetime
        }
        protocols = listen.clientProtocols.map { $0.nameInALPN }
        listener = listen.address.map { "\($0.value)" } ?? ""
    }
}
