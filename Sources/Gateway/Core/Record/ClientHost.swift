package import Reactor

/// What is known of the host of a client or of a proxy.
///
/// A unix socket and an unknown host are different: rules may name unix sockets, and no rule accepts
/// an unknown host.
package enum ClientHost: Equatable {
    case ip(IPAddress)
    /// A process on this machine, which has no address.
    case unixSocket
    /// The connection was reset before its peer was known.
    case unknown

    package var address: IPAddress? {
        if case .ip(let address) = self { address } else { nil }
    }

    init(_ peer: SocketAddress?) {
        switch peer {
        case .ip(let address, _)?: self = .ip(address.unmapped)
        case .unix?: self = .unixSocket
        case nil: self = .unknown
        }
    }
}
