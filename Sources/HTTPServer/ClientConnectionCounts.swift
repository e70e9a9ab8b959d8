import Promises
package import Reactor

/// How many connections each client has, over all workers of the process
/// (`connections_per_client`).
///
/// One object for all workers, behind a lock: the kernel distributes a client's connections over
/// the workers at random, so a limit per worker would reject clients that are far below their own.
/// The lock is taken when a connection opens and closes, and only if the limit is set; requests do
/// not take it.
package final class ClientConnectionCounts: Sendable {
    private let counts = Guarded<[Client: Int]>([:])

    /// What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a
    /// single host can choose its addresses from a whole /64.
    package struct Client: Sendable, Hashable {
        private let network: UInt64
        private let isV6: Bool

        /// Nil for a unix socket, whose clients have no address.
        package init?(_ address: SocketAddress?) {
            guard case .ip(let ip, _)? = address else { return nil }
            switch ip {
            case .v4(let bits):
                (network, isV6) = (UInt64(bits), false)
            case .v6(0, let low) where low >> 32 == 0xFFFF:  // IPv4-mapped, RFC 4291 2.5.5.2
                (network, isV6) = (low & 0xFFFF_FFFF, false)
            case .v6(let high, _):
                (network, isV6) = (high, true)
            }
        }
    }

    package init() {}

    /// Adds a connection; returns the client's number of connections with it.
    func opened(_ client: Client) -> Int {
        counts.withLock { counts in
            counts[client, default: 0] += 1
            return counts[client, default: 0]
        }
    }

    /// Removes a connection.
    func closed(_ client: Client) {
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of clients with a counted connection.
    package var count: Int { counts.withLock { $0.count } }
}
