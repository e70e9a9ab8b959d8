package import HTTP
package import TLS

/// A listener for clients: where it binds, and what happens to its connections.
package struct ListenPlan: Sendable, Equatable {
    /// For `listener` of endpoints; nil without one.
    package let name: String?
    package let socket: SocketPlan
    /// Nil for connections without TLS.
    package let tls: ListenTLSPlan?
    /// In the order of preference.
    package let protocols: [Config.ClientProtocol]
    /// Where every request is sent; nil to serve them.
    package let redirect: HTTPSRedirect?

    package init(
        socket: SocketPlan, name: String? = nil, tls: ListenTLSPlan? = nil,
        protocols: [Config.ClientProtocol] = [.http1], redirect: HTTPSRedirect? = nil
    ) {
        self.socket = socket
        self.name = name
        self.tls = tls
        self.protocols = protocols
        self.redirect = redirect
    }

    package init(address: Config.ListenAddress, mode: UInt16? = nil, group: String? = nil) {
        self.init(socket: SocketPlan(address: address, mode: mode, group: group))
    }

    package var address: Config.ListenAddress { socket.address }
}

/// Where a listener binds, and which permissions its socket file gets.
package struct SocketPlan: Sendable, Equatable {
    package let address: Config.ListenAddress
    /// The permission bits of a unix socket's file; nil applies the process's umask.
    package let mode: UInt16?
    /// The group of a unix socket's file, by name or number; nil uses the group of the process.
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

/// `tls:` of a listener.
package struct ListenTLSPlan: Sendable, Equatable {
    package let context: TLSServerContext
    package let handshakeTimeout: Duration

    package static func == (left: ListenTLSPlan, right: ListenTLSPlan) -> Bool {
        left.context.settings == right.context.settings
            && left.handshakeTimeout == right.handshakeTimeout
    }
}

extension [ListenPlan] {
    /// The listeners as they are after a reload: with the TLS and the redirect of the new
    /// configuration, as far as their sockets are the same.
    package func applyingReload(of new: [ListenPlan]) -> [ListenPlan] {
        map { listener in new.first { $0.socket == listener.socket } ?? listener }
    }
}

/// `admin:`, with the host names that its requests may use, and the secret that they present.
package struct AdminPlan: Sendable, Equatable {
    package let listen: SocketPlan
    /// The names of `hosts`, and the host of a TCP address.
    package let hosts: [String]
    /// Nil if requests need none.
    package let token: String?

    init?(_ block: Config.Admin) {
        guard let listen = SocketPlan(block) else { return nil }
        self.listen = listen
        // The listener's own host need not be listed; a duplicate does no harm.
        let ownHost = if case .tcp(let host, _) = listen.address { [host] } else { [String]() }
        hosts = block.hosts.map(\.value) + ownHost
        token = block.token.flatMap { $0.value == Config.Admin.noToken ? nil : $0.value }
    }
}
