package import HTTP
package import YAMLReader

extension Config {
    /// `clients:`, how the address of a client is determined, and which addresses are accepted.
    package struct Clients: AccessBlock {
        package let location: SourceLocation
        package var trustedProxies: [Located<Proxy>] = []
        package var addressFrom: Located<AddressSource>?
        package var allow: Located<AddressList>?
        package var deny: Located<AddressList>?
        /// The bits of an IPv6 address that rate limits count as one client.
        package var ipv6Prefix: Located<Int>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// One of `trusted_proxies:`, or of a list of addresses.
        package enum Proxy: Sendable, Hashable {
            case network(AddressPrefix)
            /// Every peer on a unix socket.
            case unix
        }

        /// `address_from`
        package enum AddressSource: String, Sendable, CaseIterable {
            case forwardedFor = "x_forwarded_for"
            case forwarded

            /// Whether proxies that maintain this family of headers maintain the header. They
            /// forward the other family unchanged.
            package func maintains(_ name: String) -> Bool {
                HeaderSyntax.isForwarding(name)
                    && (name.lowercased() == "forwarded") == (self == .forwarded)
            }
        }
    }

    /// `forwarded:` of a backend or a call: the headers that send the client's address.
    package enum Forwarded: String, Sendable, CaseIterable { case off, x, rfc7239, both }
}

extension Config.Forwarded {
    /// The headers that the gateway generates.
    package var names: [FieldName] {
        let x: [FieldName] = [.xForwardedFor, .xForwardedProto, .xForwardedHost]
        return switch self {
        case .off: []
        case .x: x
        case .rfc7239: [.forwarded]
        case .both: x + [.forwarded]
        }
    }
}

extension FieldName {
    package static var clientCert: FieldName { "Client-Cert" }
    package static var forwarded: FieldName { "Forwarded" }
    package static var xForwardedFor: FieldName { "X-Forwarded-For" }
    package static var xForwardedProto: FieldName { "X-Forwarded-Proto" }
    package static var xForwardedHost: FieldName { "X-Forwarded-Host" }
}
