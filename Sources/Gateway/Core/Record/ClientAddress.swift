package import Basics
import HTTP
package import Reactor

/// The origin of a request: the address of its client, and what the proxies in between state about
/// the client's request.
///
/// Computed once per request, at the first use (`RequestContext.clientAddress`): by `clients.allow` and
/// `deny`, a rate limit or `auth_failures`, a reference `{request.client}`, a call with `forwarded`,
/// or the access log.
package final class ClientAddress {
    /// The client.
    let host: ClientHost
    /// The other end of the connection; nil for a unix socket, and if it is unknown.
    let peer: IPAddress?
    /// Whether the peer is a trusted proxy, so that its forwarding headers are used.
    let isProxied: Bool
    /// The scheme and the host that the client used, as far as the proxies state them.
    let proto: Bytes?
    let requestedHost: Bytes?

    /// The client; nil for a unix socket where no proxy states a client, and if it is unknown.
    package var address: IPAddress? { host.address }

    /// The address as text, without a port.
    package private(set) lazy var text: Bytes? = address.map { Bytes($0.description) }

    /// What a trusted proxy states about the client's request.
    package var statedScheme: String? { proto.map { String($0) } }
    package var statedHost: Bytes? { requestedHost }

    /// Whether a proxy stated the client.
    package var isNamedByProxy: Bool { isProxied && address != peer }

    init(
        _ host: ClientHost, peer: ClientHost, isProxied: Bool, proto: Bytes? = nil,
        requestedHost: Bytes? = nil
    ) {
        self.host = host
        self.peer = peer.address
        self.isProxied = isProxied
        self.proto = proto
        self.requestedHost = requestedHost
    }
}
