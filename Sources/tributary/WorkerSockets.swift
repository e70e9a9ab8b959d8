import Reactor
import UVReactor

/// The bound sockets of all listeners, one of each for every core.
///
/// Cores that listen on TCP have a socket each on a shared port, over which the kernel spreads the
/// connections. A unix socket knows no sharing: it is bound once and its descriptor duplicated.
/// Dropping this removes the files of unix sockets and closes what no core took.
struct WorkerSockets: ~Copyable {
    /// The addresses bound to, with the port that the system chose where 0 was asked for.
    let addresses: [SocketAddress]
    /// For each core, a socket of every listener.
    let parcels: [[Parcel<ListeningSocket>]]

    /// Keeps the files of unix sockets in place.
    private let originals: [Parcel<ListeningSocket>]

    /// Where a listener binds.
    struct Place {
        let address: SocketAddress
        /// The permissions of the file, for a unix socket.
        let access: SocketFileAccess
    }

    /// Binds all listeners, or none.
    init(binding places: [Place], count: Int) throws(StartFailure) {
        var addresses: [SocketAddress] = []
        var parcels = [[Parcel<ListeningSocket>]](repeating: [], count: max(1, count))
        var originals: [Parcel<ListeningSocket>] = []
        for place in places {
            do throws(IOFailure) {
                let (address, sockets, original) = try Self.bind(place, count: parcels.count)
                addresses.append(address)
                for (worker, socket) in sockets.enumerated() { parcels[worker].append(socket) }
                if let original { originals.append(original) }
            } catch {
                throw .listen(place.address, error)
            }
        }
        self.addresses = addresses
        self.parcels = parcels
        self.originals = originals
    }

    /// One listener: its address, a socket for each core, and what keeps its file in place.
    private typealias Bound = (
        address: SocketAddress, sockets: [Parcel<ListeningSocket>],
        original: Parcel<ListeningSocket>?
    )

    private static func bind(_ place: Place, count: Int) throws(IOFailure) -> Bound {
        switch place.address {
        case .ip: try share(place.address, count: count)
        case .unix: try duplicate(place, count: count)
        }
    }

    private static func share(_ address: SocketAddress, count: Int) throws(IOFailure) -> Bound {
        // A shared port would let a second daemon in unseen: ask once without sharing.
        guard !ListeningSocket.isTaken(address) else { throw .addressInUse }
        let first = try ListeningSocket.bound(to: address, sharedPort: count > 1)
        let actual = first.address
        var sockets = [Parcel(first)]
        for _ in 1..<count {
            sockets.append(Parcel(try .bound(to: actual, sharedPort: true)))
        }
        return (actual, sockets, nil)
    }

    private static func duplicate(_ place: Place, count: Int) throws(IOFailure) -> Bound {
        let socket = try ListeningSocket.bound(to: place.address, access: place.access)
        var sockets: [Parcel<ListeningSocket>] = []
        for _ in 0..<count { sockets.append(Parcel(try socket.duplicate())) }
        let address = socket.address
        return (address, sockets, Parcel(consume socket))
    }
}
