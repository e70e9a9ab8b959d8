package import GatewayConfig

/// Where a listener binds, and which permissions its socket file gets.
package struct ListenPlan: Sendable, Equatable {
    package let address: Config.ListenAddress
    /// The permission bits of a unix socket's file; nil applies the process's umask.
    package let mode: UInt16?
    /// The group of a unix socket's file, by name or number; nil uses that of the process.
    package let group: String?

    package init(address: Config.ListenAddress, mode: UInt16? = nil, group: String? = nil) {
        self.address = address
        self.mode = mode
        self.group = group
    }

    /// Nil without an address, which a checked configuration always has.
    init?(_ block: some AddressBlock) {
        guard let address = block.address?.value else { return nil }
        self.init(address: address, mode: block.mode?.value, group: block.group?.value)
    }
}

/// `admin:`, with the host names that its requests may use, and the secret that they present.
package struct AdminPlan: Sendable, Equatable {
    package let listen: ListenPlan
    /// Those of `hosts`, and the host of a TCP address.
    package let hosts: [String]
    /// Nil if requests need none.
    package let token: String?

    init?(_ block: Config.Admin) {
        guard let listen = ListenPlan(block) else { return nil }
        self.listen = listen
        // The listener's own host need not be listed; a duplicate does no harm.
        let ownHost = if case .tcp(let host, _) = listen.address { [host] } else { [String]() }
        hosts = block.hosts.map(\.value) + ownHost
        token = block.token?.value
    }
}
