package import HTTP
import Reactor

/// Where calls go: a host and its port, or a unix socket.
package struct Origin: Hashable, Sendable {
    enum Destination: Hashable, Sendable {
        /// A name that the name service must translate.
        case name(String, port: UInt16)
        /// An address that needs no translation.
        case address(SocketAddress)
    }

    let destination: Destination

    /// What stands in the `Host` field of requests: host and port (RFC 9110 7.2). The port is left
    /// out where it is the default one.
    package let hostField: String

    /// The port that goes without saying.
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
            hostField = host + suffix
        }
    }

    /// A unix socket. It has no host of its own, so requests say `localhost`.
    package init(unixPath path: String) {
        destination = .address(.unix(path: path))
        hostField = "localhost"
    }

    /// Whom a certificate must name: the host, or its address in text form.
    var host: String {
        switch destination {
        case .name(let host, _): host
        case .address(.ip(let address, _)): "\(address)"
        case .address(.unix): "localhost"
        }
    }

    /// `hostField` as a value of `Fields`. A host that cannot stand in a field has no address
    /// either, so no request to it is ever sent; its value is empty.
    package var hostFieldValue: FieldValue { FieldValue(hostField) ?? "" }

    package static func == (left: Origin, right: Origin) -> Bool {
        left.destination == right.destination
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(destination) }
}

extension Origin: CustomStringConvertible {
    /// For people: `catalog.internal:7001`, `[::1]:80` or `unix:/run/a.sock`.
    package var description: String {
        switch destination {
        case .name(let host, let port): "\(host):\(port)"
        case .address(let address): "\(address)"
        }
    }
}

extension IPAddress {
    fileprivate var isV6: Bool {
        if case .v6 = self { true } else { false }
    }
}
