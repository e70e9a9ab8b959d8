import Reactor
import Rehearsal
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
    var tree: Tree {
        let tree = Tree.members(["address": .scalar("127.0.0.1:\(port)")])
        guard let tls else {
            return tree.setting("redirect", .scalar("https:\(Self.redirectPort)"))
        }
        return tree.setting("protocols", .list(["http1"])).setting("tls", tls.tree)
    }
}

extension DrawnListenTLS {
    fileprivate var tree: Tree {
        var tree = Tree.members([
            "certificates": .array(
                certificates.map {
                    .members(["cert": .scalar("\($0).pem"), "key": .scalar("\($0).key")])
                }),
            "handshake_timeout": .scalar("\(handshakeTimeout)ms"),
        ])
        if refusesUnknownNames { tree.set("unknown_name", .scalar("refuse")) }
        if clients != .ignored {
            tree.set("client_ca", .scalar(DrawnTLS.authorityFile))
            tree.set("client_certificate", .scalar("\(clients)"))
        }
        return tree
    }

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
