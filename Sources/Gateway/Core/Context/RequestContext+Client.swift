package import HTTP
import Reactor

extension RequestContext {
    /// The client's address by these rules; computed at the first call.
    package func clientAddress(of head: RequestHead, _ proxies: TrustedProxies) -> ClientAddress {
        if let client { return client }
        let found = proxies.client(of: head.fields, peer: peer.address)
        client = found
        return found
    }
}

extension PeerAddress {
    /// Nil if it is unknown; of numbers without the port, which does not matter.
    fileprivate var address: SocketAddress? {
        switch bits {
        case .v4(let bits): .ip(.v4(bits), port: 0)
        case .v6(let high, let low): .ip(.v6(high, low), port: 0)
        case .unixSocket: .unnamedUnix
        case .unknown: text.flatMap { IPAddress($0) }.map { .ip($0, port: port ?? 0) }
        }
    }
}
