import Rehearsal
import SimReactor

/// `tls:` of a backend with `https://`. The simulation has no cryptography, only the names and the
/// result of the verification.
struct DrawnTLS {
    let keys: Tree

    var verifies: Bool { keys["verify"] == nil }
    var serverName: String? { keys[text: "server_name"] }

    /// The server name (SNI) of connections to a host.
    func name(of host: DrawnHost) -> String { serverName ?? host.host }

    /// A second name in the certificate of every host.
    static let alias = "alias.test"

    /// The identity of a host with a valid certificate.
    static func identity(of host: DrawnHost) -> SimIdentity {
        withBothProtocols(SimIdentity(names: [host.host, alias]))
    }

    /// The identity of a host with a certificate for another host.
    static let wrongIdentity = withBothProtocols(SimIdentity(names: ["other.test"]))

    /// The gateway offers those that a backend has by its configuration.
    private static func withBothProtocols(_ identity: SimIdentity) -> SimIdentity {
        var identity = identity
        identity.applicationProtocols = ["h2", "http/1.1"]
        return identity
    }

    static func broken(_ handshake: SimIdentity.Handshake, _ host: DrawnHost) -> SimIdentity {
        var identity = identity(of: host)
        identity.handshake = handshake
        return identity
    }

    /// The file in `ca`, which has signed no certificate.
    static let authorityFile = "ca.pem"
}
