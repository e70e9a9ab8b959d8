import Reactor
import SimReactor
import TLS

/// An entry of `listen:` behind the first one, which has no TLS. A reload keeps them all.
struct DrawnListener {
    /// At 127.0.0.1.
    var port: UInt16
    var tls: DrawnListenTLS?
    /// Every request gets a 308 to https.
    var redirects = false

    var address: SocketAddress { .ip(.v4(0x7F00_0001), port: port) }

    /// Where redirects go: the port of the first listener with TLS.
    static let redirectPort: UInt16 = 8443
}

/// `tls:` of a listener, with `client_ca` and `client_certificate`.
struct DrawnListenTLS {
    var certificates: [Certificate]
    var refusesUnknownNames: Bool
    var clients: SimServerPolicy.Clients
    /// In milliseconds.
    var handshakeTimeout: Int

    enum Certificate: String { case shop, partners }

    /// The names of the certificates.
    var names: [String] { certificates.flatMap { ["\($0).test", "*.\($0).test"] } }

    var policy: SimServerPolicy {
        var policy = SimServerPolicy(names: names)
        policy.refusesUnknownNames = refusesUnknownNames
        policy.clients = clients
        return policy
    }
}

extension DrawnListener {
    /// Clients may have certificates here.
    var verifiesClients: Bool { tls.map { $0.clients != .ignored } ?? false }

    /// The entry of the configuration.
    var written: String {
        guard let tls else { return "{ address: 127.0.0.1:\(port), redirect: \(redirect) }" }
        let certificates = tls.certificates.map { "{ cert: \($0).pem, key: \($0).key }" }
        var keys = [
            "certificates: [\(certificates.joined(separator: ", "))]",
            "handshake_timeout: \(tls.handshakeTimeout)ms",
        ]
        if tls.refusesUnknownNames { keys.append("unknown_name: refuse") }
        if tls.clients != .ignored {
            keys.append("client_ca: \(DrawnTLS.authorityFile)")
            keys.append("client_certificate: \(tls.clients)")
        }
        let block = keys.joined(separator: ", ")
        return "{ address: 127.0.0.1:\(port), protocols: [http1], tls: { \(block) } }"
    }

    private var redirect: String { "https:\(Self.redirectPort)" }
}

extension DrawnListenTLS {
    /// The policy of the listener that has these settings, which contain its address.
    static func policy(
        for settings: TLSServerSettings, of listeners: [DrawnListener]
    ) -> SimServerPolicy {
        let listener = listeners.first { settings.listener.contains("\($0.port)") }
        var policy = listener?.tls?.policy ?? SimServerPolicy(names: [])
        // From the gateway's plan, so that the plan is checked, too.
        policy.refusesUnknownNames = settings.refusesUnknownNames
        policy.applicationProtocols = settings.protocols
        policy.clients =
            settings.clients.map { $0.isRequired ? .required : .optional } ?? .ignored
        return policy
    }
}
