package import Reactor
import Synchronization

/// How many connections each client has, over all workers of the process
/// (`connections_per_client`).
///
/// One object for all workers, behind a lock: the kernel spreads a client's connections over the
/// workers by chance, so a share per worker would refuse clients that are far below the limit. The
/// lock is taken when a connection opens and closes, and only where the limit is set; no request
/// takes it.
package final class ClientConnections: Sendable {
    private let counts = Mutex<[Client: Int]>([:])

    /// Who counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a
    /// single host has a whole /64 to choose its addresses from.
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

    /// Counts one more connection; gives how many the client has with it.
    func opened(_ client: Client) -> Int {
        counts.withLock { counts in
            counts[client, default: 0] += 1
            return counts[client, default: 0]
        }
    }

    /// Counts one connection less.
    func closed(_ client: Client) {
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }

    /// How many clients have a connection that is counted.
    package var count: Int { counts.withLock { $0.count } }
}
