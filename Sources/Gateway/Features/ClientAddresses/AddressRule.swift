import Reactor

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

        func contains(_ client: ClientHost) -> Bool {
            switch client {
            case .ip(let address): addresses.contains(address)
            case .unixSocket: includesUnixSockets
            case .unknown: false
            }
        }
    }

    /// `allow 2 networks, others get 403; deny 1000 networks from deny.txt, which get 403`
    package let consequences: String

    /// Nil without a list.
    package init?(allow: Config.AddressList?, deny: Config.AddressList?) {
        guard allow != nil || deny != nil else { return nil }
        allowed = allow.map { Entries($0) }
        denied = deny.map { Entries($0) }
        text = [allow.map { "allow \($0.text)" }, deny.map { "deny \($0.text)" }]
            .compactMap { $0 }.joined(separator: "; ")
        consequences = [
            allow.map { "allow \($0.text), others get 403" },
            deny.map { "deny \($0.text), which get 403" },
        ].compactMap { $0 }.joined(separator: "; ")
    }

    /// An unknown client is refused, since it may be one that is denied.
    package func accepts(_ client: ClientHost) -> Bool {
        if client == .unknown { return false }
        if let denied, denied.contains(client) { return false }
        return allowed?.contains(client) ?? true
    }
}

extension Config.AddressList {
    /// Up to three networks, or their number.
    fileprivate var text: String {
        var names = networks.enumerated().map { written[$0] ?? "\($1)" }
        if includesUnixSockets { names.append("unix") }
        let source = file.map { " from \($0)" } ?? ""
        guard names.count > 3 || file != nil else { return names.joined(separator: ", ") }
        return "\(names.count) \(names.count == 1 ? "entry" : "entries")\(source)"
    }
}
