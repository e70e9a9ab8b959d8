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

extension DrawnListener {
    /// Clients may have certificates here.
    var verifiesClients: Bool { tls.map { $0.clients != .ignored } ?? false }

    /// The entry of the configuration.
    var tree: Tree {
        let tree = Tree.members(["address": .scalar("127.0.0.1:\(port)")])
        guard let tls else {
            return tree.setting("redirect", .scalar("https:\(Self.redirectPort)"))
        }
        return tree.setting("protocols", .list(["http1"])).setting("tls", tls.keys)
    }
}

/// `tls:` of a listener.
struct DrawnListenTLS {
    let keys: Tree

    /// In milliseconds.
    var handshakeTimeout: Int { keys[number: "handshake_timeout"] ?? 0 }
    var clients: SimServerPolicy.Clients {
        switch keys[text: "client_certificate"] {
        case nil: .ignored
        case "required": .required
        default: .optional
        }
    }

    var policy: SimServerPolicy {
        let files = (keys["certificates"]?.elements ?? []).compactMap { $0[text: "cert"] }
        let names = files.map { $0.replacing(".pem", with: ".test") }
        var policy = SimServerPolicy(names: names.flatMap { [$0, "*.\($0)"] })
        policy.refusesUnknownNames = keys["unknown_name"] != nil
        policy.clients = clients
        return policy
    }

    static func weights(_ clients: SimServerPolicy.Clients) -> [KeyWeight] {
        let shop = #"{"cert": shop.pem, "key": shop.key}"#
        let partners = #"{"cert": partners.pem, "key": partners.key}"#
        let verifies = clients == .ignored ? 0.0 : 1.0
        return [
            .key("certificates", 1, of: ["[\(shop)]", "[\(partners)]", "[\(shop), \(partners)]"]),
            .key("handshake_timeout", 1, 20...400), .key("unknown_name", 0.3, of: ["refuse"]),
            .key("client_ca", verifies, of: [DrawnTLS.authorityFile]),
            .key("client_certificate", verifies, of: ["\(clients)"]),
        ]
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
