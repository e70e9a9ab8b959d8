import Basics
import HTTP
package import Reactor

/// `clients.trusted_proxies` and `address_from`: which peers are proxies whose forwarding headers
/// are trusted, and which of the two families of headers they maintain.
///
/// Only that family is used: a proxy that maintains one passes the other on as the client sent it.
package struct TrustedProxies: Sendable, Equatable {
    let networks: [AddressPrefix]
    /// Whether peers on unix sockets are trusted, which have no address. An unknown peer never is.
    let includesUnixSockets: Bool
    let source: Config.Clients.AddressSource

    /// The hops that are read, from the right: longer than any chain of proxies, and a bound for
    /// the cost of a long header.
    static let hopsMax = 32

    package static let none = TrustedProxies(
        networks: [], includesUnixSockets: false, source: .forwardedFor)

    package var isEmpty: Bool { networks.isEmpty && !includesUnixSockets }

    /// Whether a peer is one of the proxies.
    package func trusts(peer: SocketAddress) -> Bool { trusts(ClientHost(peer)) }

    func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The client of a request: the peer, or, if that is a trusted proxy, the rightmost address of
    /// the header that is not one. An entry that is not an address ends the search at the hop
    /// before.
    ///
    /// - Parameter peer: the other end of the connection; nil if it is unknown
    func client(of fields: Fields, peer: SocketAddress?) -> ClientAddress {
        let peer = ClientHost(peer)
        guard trusts(peer) else { return ClientAddress(peer, peer: peer, isProxied: false) }
        switch source {
        case .forwardedFor: return clientOfForwardedFor(fields, behind: peer)
        case .forwarded: return clientOfForwarded(fields, behind: peer)
        }
    }

    private func trusts(_ peer: ClientHost) -> Bool {
        switch peer {
        case .ip(let address): trusts(address)
        case .unixSocket: includesUnixSockets
        case .unknown: false
        }
    }

    private func clientOfForwardedFor(_ fields: Fields, behind peer: ClientHost) -> ClientAddress {
        var client = peer
        let lines = fields.all(.xForwardedFor).map(\.bytes)
        for entry in ReversedEntries(lines).prefix(Self.hopsMax) {
            guard let address = ForwardedHop.address(inForwardedFor: entry) else { break }
            client = .ip(address)
            if !trusts(address) { break }
        }
        return ClientAddress(
            client, peer: peer, isProxied: true, proto: fields[.xForwardedProto]?.bytes,
            requestedHost: fields[.xForwardedHost]?.bytes)
    }

    private func clientOfForwarded(_ fields: Fields, behind peer: ClientHost) -> ClientAddress {
        var client = peer
        var found: ForwardedElement?
        var hops = 0
        for line in fields.all(.forwarded).reversed() {
            for element in ForwardedElement.reversed(in: line.bytes) {
                hops += 1
                guard hops <= Self.hopsMax, let element, let address = element.address else {
                    return result()
                }
                client = .ip(address)
                found = element
                if !trusts(address) { return result() }
            }
        }
        func result() -> ClientAddress {
            ClientAddress(
                client, peer: peer, isProxied: true, proto: found?.proto,
                requestedHost: found?.host)
        }
        return result()
    }
}
