import Gateway
import YAMLReader

/// Converts the settings of KrakenD's `router` about trusted proxies to `clients`.
struct KrakenDClients {
    static let keys: Set<String> = [
        "forwarded_by_client_ip", "remote_ip_headers", "trusted_proxies",
    ]

    /// Nil if client addresses are those of the connections.
    private(set) var tree: YAMLTree?

    init(_ router: DocumentNode?, _ findings: inout ImportFindings) {
        let proxies = router?["trusted_proxies"]
        guard let setting = router?["forwarded_by_client_ip"], setting.flag == true else {
            for member in router?.members ?? []
            where Self.keys.contains(member.key) && member.key != "forwarded_by_client_ip" {
                findings.note(
                    at: member.keyLocation,
                    "'\(member.key)' is left out: KrakenD does not use it without"
                        + " 'forwarded_by_client_ip'")
            }
            return
        }
        guard let proxies, !proxies.texts.isEmpty else {
            findings.note(
                at: setting.location,
                "'forwarded_by_client_ip' is left out: without 'trusted_proxies', client addresses"
                    + " are those of the connections")
            return
        }
        guard Self.readsForwardedFor(router?["remote_ip_headers"], &findings) else { return }
        let networks = Self.networks(proxies, &findings)
        guard !networks.isEmpty else { return }
        tree = .located(.inline([("trusted_proxies", .texts(networks))]), proxies.location)
    }

    /// Of the headers that KrakenD can read, the gateway reads only `X-Forwarded-For`.
    private static func readsForwardedFor(
        _ node: DocumentNode?, _ findings: inout ImportFindings
    ) -> Bool {
        guard let node, !node.texts.isEmpty else { return true }
        let others = node.texts.filter { $0.lowercased() != "x-forwarded-for" }
        guard others.count < node.texts.count else {
            findings.warning(
                at: node.location,
                "'remote_ip_headers' is left out: trusted proxies must send the client's"
                    + " address in 'X-Forwarded-For'")
            return false
        }
        for name in others {
            findings.warning(
                at: node.location,
                "'\(name)' of 'remote_ip_headers' is left out: the client's address is"
                    + " read from 'X-Forwarded-For'")
        }
        return true
    }

    /// KrakenD ignores bits after the prefix of a network.
    private static func networks(
        _ node: DocumentNode, _ findings: inout ImportFindings
    ) -> [String] {
        var networks: [String] = []
        for text in node.texts {
            do throws(AddressPrefix.Fault) {
                _ = try AddressPrefix(text)
                networks.append(text)
            } catch {
                switch error {
                case .bitsAfterPrefix(let meant): networks.append(meant.description)
                case .syntax:
                    findings.warning(
                        at: node.location,
                        "'\(text)' of 'trusted_proxies' is left out: it is not a network")
                }
            }
        }
        return networks
    }
}
