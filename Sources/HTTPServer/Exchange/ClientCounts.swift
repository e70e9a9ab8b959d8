import Basics
import Promises
package import Reactor

/// How many connections and requests in flight each client has, over all workers of the process
/// (`connections_per_client`, `requests_per_client`).
///
/// One object for all workers, behind a lock: the kernel distributes a client's connections over
/// the workers at random, so a limit per worker would reject clients that are far below their own.
/// The lock is taken when a connection opens and closes, and with its first request; further requests
/// count in an object that the connection holds.
package final class ClientCounts: Sendable {
    private let counts = Guarded<[Client: Count]>([:])

    /// Connections are counted apart, so that refused ones do not count for the limit.
    enum Kind {
        case served
        /// Beyond the limit; waits for its 503, or for the end of the client.
        case refused
    }

    private struct Count {
        var served = 0
        var refused = 0
        /// Requests in flight; nil until there was one.
        var requests: SharedCount?

        subscript(kind: Kind) -> Int {
            get { kind == .served ? served : refused }
            set { if kind == .served { served = newValue } else { refused = newValue } }
        }
    }

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

    /// Adds a connection, unless the client has `limit` of the kind; returns whether it did.
    func add(_ client: Client, as kind: Kind, atMost limit: Int) -> Bool {
        counts.withLock { counts in
            var count = counts[client] ?? Count()
            guard count[kind] < limit else { return false }
            count[kind] += 1
            counts[client] = count
            return true
        }
    }

    /// The count of the requests in flight of a client, which has a connection.
    func requests(of client: Client) -> SharedCount {
        counts.withLock { counts in
            if let requests = counts[client]?.requests { return requests }
            let requests = SharedCount()
            counts[client]?.requests = requests
            return requests
        }
    }

    /// Removes a connection.
    func remove(_ client: Client, as kind: Kind) {
        counts.withLock { counts in
            guard var count = counts[client], count[kind] > 0 else { return }
            count[kind] -= 1
            counts[client] = count.served + count.refused > 0 ? count : nil
        }
    }

    /// The number of clients with a counted connection.
    package var count: Int { counts.withLock { $0.count } }
}
