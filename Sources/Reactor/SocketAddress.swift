/// Where a socket listens or connects to.
package enum SocketAddress: Sendable, Hashable {
    case ip(IPAddress, port: UInt16)
    case unix(path: String)
}

extension SocketAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ip(.v4(let address), let port): "\(IPAddress.v4(address)):\(port)"
        case .ip(.v6(let high, let low), let port): "[\(IPAddress.v6(high, low))]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
