/// Where a socket listens or connects to.
package enum SocketAddress: Sendable, Hashable {
    case ip(IPAddress, port: UInt16)
    case unix(path: String)

    /// The peer of a unix socket, which has no name.
    package static let unnamedUnix = SocketAddress.unix(path: "")
}

extension SocketAddress: LosslessStringConvertible {
    /// Reads `192.0.2.1:80`, `[2001:db8::1]:80` or `unix:/run/a.sock`. Nil for a host name;
    /// `Loop.resolve` looks names up.
    package init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            let path = text.dropFirst("unix:".count)
            guard !path.utf8.contains(0) else { return nil }
            self = .unix(path: String(path))
            return
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = SocketAddress.port(text[text.utf8.index(after: colon)...]),
            let host = SocketAddress.host(text[..<colon])
        else { return nil }
        self = .ip(host, port: port)
    }

    /// The form that `init` reads.
    package var description: String {
        switch self {
        case .ip(.v4(let address), let port): "\(IPAddress.v4(address)):\(port)"
        case .ip(.v6(let high, let low), let port): "[\(IPAddress.v6(high, low))]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    private static func port(_ text: Substring) -> UInt16? {
        IPAddress.number(text.utf8, radix: 10, digitsMax: 5).flatMap { UInt16(exactly: $0) }
    }

    /// Version 6 is in brackets, version 4 is not.
    private static func host(_ text: Substring) -> IPAddress? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        guard let address = IPAddress(String(isBracketed ? text.dropFirst().dropLast() : text))
        else { return nil }
        switch address {
        case .v4: return isBracketed ? nil : address
        case .v6: return isBracketed ? address : nil
        }
    }
}
