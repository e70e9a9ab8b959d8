package import GatewayConfig
package import Reactor

/// `clients: { allow, deny }`: which client addresses are accepted.
package final class AddressRule {
    /// Nil if every address is allowed that is not denied.
    private let allowed: Entries?
    private let denied: Entries?
    /// `allow 2 networks; deny 1000 networks from deny.txt`
    package let text: String

    private struct Entries {
        let addresses: AddressSet
        let includesUnixSockets: Bool

        init(_ list: Config.AddressList) {
            addresses = AddressSet(list.networks)
            includesUnixSockets = list.includesUnixSockets
        }

        func contains(_ address: IPAddress?) -> Bool {
            address.map(addresses.contains) ?? includesUnixSockets
        }
    }

    /// Nil without a list.
    package init?(allow: Config.AddressList?, deny: Config.AddressList?) {
        guard allow != nil || deny != nil else { return nil }
        allowed = allow.map { Entries($0) }
        denied = deny.map { Entries($0) }
        text = [allow.map { "allow \($0.text)" }, deny.map { "deny \($0.text)" }]
            .compactMap { $0 }.joined(separator: "; ")
    }

    /// - Parameter address: nil for a peer on a unix socket where no trusted proxy states a client
    package func accepts(_ address: IPAddress?) -> Bool {
        if let denied, denied.contains(address) { return false }
        return allowed?.contains(address) ?? true
    }
}

extension Config.AddressList {
    /// Up to three networks, or their number.
    fileprivate var text: String {
        var names = networks.map { "\($0)" }
        if includesUnixSockets { names.append("unix") }
        let source = file.map { " from \($0)" } ?? ""
        guard names.count > 3 || file != nil else { return names.joined(separator: ", ") }
        return "\(names.count) \(names.count == 1 ? "entry" : "entries")\(source)"
    }
}
