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

}

extension Config.Clients: PlainBlock {
    static let keys: [BlockKey<Config.Clients>] =
        [
            .list(
                "trusted_proxies", \.trustedProxies, .list(of: .proxy),
                "peers whose forwarding headers are trusted: networks, addresses, or unix"),
            .value(
                "address_from", \.addressFrom, .choice,
                default: .choice(PlanDefaults.addressFrom),
                "header that these proxies maintain; forwarded is the one of RFC 7239"),
            .value(
                "ipv6_prefix", \.ipv6Prefix, .count(16...128),
                default: .number(PlanDefaults.ipv6Prefix),
                "leading bits of an IPv6 address that rate limits count as one client"),
        ] + accessKeys
}

enum ClientAddressesKeys {
    static let root: [BlockKey<Config>] = [
        .block(
            "clients", \.clients,
            "how the client's address is determined behind proxies, and which are accepted")
    ]

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .block(
            "clients", \.clients,
            "address list that a client must also pass, after the top-level clients")
    ]
}

extension ValueReader where Value == Config.Clients.Proxy {
    static var proxy: ValueReader {
        let message = "must be a network such as 10.0.0.0/8, an address, or unix"
        let schema = ValueSchema.either([.choice(["unix"]), .text(format: .network)])
        return .scalar(schema, expected: message) { scalar throws(Refusal) in
            if scalar.text == "unix" { return .unix }
            do throws(AddressPrefix.Fault) {
                return .network(try AddressPrefix(scalar.text))
            } catch {
                switch error {
                case .syntax: throw Refusal(.init(fixed: message))
                case .bitsAfterPrefix(let meant):
                    throw Refusal(
                        "must not have bits set after its prefix"
                            + .hint(" - did you mean \(meant)?"))
                }
            }
        }
    }
}
