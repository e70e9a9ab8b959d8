package import HTTP
import Reactor

/// The destination of calls: a host and its port, or a unix socket.
package struct Origin: Hashable, Sendable {
    enum Destination: Hashable, Sendable {
        /// A name that must be looked up.
        case name(String, port: UInt16)
        /// An address that needs no look-up.
        case address(SocketAddress)
    }

    let destination: Destination

    /// The `Host` field of requests: host and port (RFC 9110 7.2), without the default port.
    package let hostField: String

    /// The port that `Host` omits.
    package enum DefaultPort: UInt16, Sendable { case http = 80, https = 443 }

    /// A host by its name or by its address in text form, without brackets.
    package init(host: String, port: UInt16, default defaultPort: DefaultPort = .http) {
        let suffix = port == defaultPort.rawValue ? "" : ":\(port)"
        switch IPAddress(host) {
        case .some(let address):
            destination = .address(.ip(address, port: port))
            hostField = (address.isV6 ? "[\(address)]" : "\(address)") + suffix
        case nil:
            // Names are compared without case (RFC 9110 4.2.3): equal origins share a pool.
            destination = .name(host.lowercased(), port: port)
            hostField = host.withoutDotAtEnd + suffix
        }
    }

    /// A unix socket. It has no host, so requests state `localhost`.
    package init(unixPath path: String) {
        destination = .address(.unix(path: path))
        hostField = "localhost"
    }

    /// The name that a certificate must contain: the host, or its address in text form. As in
    /// `Host`, without the dot of an absolute name (RFC 6066 3).
    package var host: String {
        switch destination {
        case .name(let host, _): host.withoutDotAtEnd
        case .address(.ip(let address, _)): "\(address)"
        case .address(.unix): "localhost"
        }
    }

    /// Nil for a unix socket.
    package var port: UInt16? {
        switch destination {
        case .name(_, let port), .address(.ip(_, let port)): port
        case .address(.unix): nil
        }
    }

    /// `hostField` as a value of `Fields`; empty for a host that is invalid in a field. Such a host
    /// has no address either, so no request to it is ever sent.
    package var hostFieldValue: FieldValue { FieldValue(hostField) ?? "" }

    package static func == (left: Origin, right: Origin) -> Bool {
        left.destination == right.destination
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(destination) }
}

extension Origin: CustomStringConvertible {
    /// For operators: `catalog.internal:7001`, `[::1]:80` or `unix:/run/a.sock`.
    package var description: String {
        switch destination {
        case .name(let host, let port): "\(host):\(port)"
        case .address(let address): "\(address)"
        }
    }
}

extension String {
    /// A name without the dot that makes it absolute.
    fileprivate var withoutDotAtEnd: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension IPAddress {
    fileprivate var isV6: Bool {
        if case .v6 = self { true } else { false }
    }
}
