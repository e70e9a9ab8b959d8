import Reactor
import UVReactor

/// The bound sockets of one address, one for each core.
///
/// Cores that listen on TCP have a socket each on a shared port, over which the kernel spreads the
/// connections. A unix socket knows no sharing: it is bound once and its descriptor duplicated.
/// Dropping this removes the file of a unix socket and closes what no core took.
struct CoreSockets: ~Copyable {
    /// The address bound to, with the port that the system chose where 0 was asked for.
    let address: SocketAddress
    let parcels: [Parcel<ListeningSocket>]

    /// Keeps the file of a unix socket in place.
    private let original: ListeningSocket?

    /// - Parameter access: the permissions of the file, for a unix socket
    init(
        binding address: SocketAddress, access: SocketFileAccess, count: Int
    ) throws(IOFailure) {
        switch address {
        case .ip: try self.init(sharing: address, count: count)
        case .unix:
            try self.init(duplicating: .bound(to: address, access: access), count: count)
        }
    }

    private init(sharing address: SocketAddress, count: Int) throws(IOFailure) {
        // A shared port would let a second daemon in unseen: ask once without sharing.
        guard !ListeningSocket.isTaken(address) else { throw .addressInUse }
        let first = try ListeningSocket.bound(to: address, sharedPort: count > 1)
        let actual = first.address
        var parcels = [Parcel(first)]
        for _ in 1..<max(1, count) {
            parcels.append(Parcel(try .bound(to: actual, sharedPort: true)))
        }
        self.address = actual
        self.parcels = parcels
        original = nil
    }

    private init(duplicating socket: consuming ListeningSocket, count: Int) throws(IOFailure) {
        var parcels: [Parcel<ListeningSocket>] = []
        for _ in 0..<count { parcels.append(Parcel(try socket.duplicate())) }
        address = socket.address
        self.parcels = parcels
        original = consume socket
    }
}
