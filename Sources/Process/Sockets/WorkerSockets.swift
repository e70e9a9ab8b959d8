import Reactor
import UVReactor

/// The bound sockets of all listeners: for each worker, one socket of each listener.
///
/// On TCP each worker has its own socket on a shared port, and the kernel distributes the
/// connections. A unix socket cannot be shared in this way: it is bound once and its descriptor
/// duplicated, as is the descriptor of an inherited socket. Dropping this value removes the files of unix sockets and closes the sockets that no
/// worker took.
struct WorkerSockets: ~Copyable {
    /// The bound addresses, with the port that the system chose where the configuration has 0.
    let addresses: [SocketAddress]
    /// For each worker, a socket of each listener.
    let byWorker: [[TransferBox<ListeningSocket>]]

    /// Own the files of unix sockets: closing one removes its file.
    private let originals: [TransferBox<ListeningSocket>]

    /// Where a listener binds.
    struct Listener {
        let address: SocketAddress
        /// The permissions of the file, for a unix socket.
        let access: SocketFileAccess
    }

    /// Binds all listeners, or none; sockets that are bound already are taken from `inherited`.
    init(
        binding listeners: [Listener], workers: Int, inherited: inout InheritedSockets
    ) throws(StartFailure) {
        var addresses: [SocketAddress] = []
        var byWorker = [[TransferBox<ListeningSocket>]](repeating: [], count: max(1, workers))
        var originals: [TransferBox<ListeningSocket>] = []
        for listener in listeners {
            do throws(IOFailure) {
                let (address, sockets, original) =
                    if let socket = inherited.take(listener.address) {
                        try Self.duplicates(of: socket, count: byWorker.count)
                    } else {
                        try Self.bind(listener, count: byWorker.count)
                    }
                addresses.append(address)
                for (worker, socket) in sockets.enumerated() { byWorker[worker].append(socket) }
                if let original { originals.append(original) }
            } catch {
                throw .listen(listener.address, error)
            }
        }
        self.addresses = addresses
        self.byWorker = byWorker
        self.originals = originals
    }

    /// One listener: its address, a socket for each worker, and the owner of its file.
    private typealias Bound = (
        address: SocketAddress, sockets: [TransferBox<ListeningSocket>],
        original: TransferBox<ListeningSocket>?
    )

    private static func bind(_ listener: Listener, count: Int) throws(IOFailure) -> Bound {
        switch listener.address {
        case .ip: try bindSharedPort(listener.address, count: count)
        case .unix: try bindAndDuplicate(listener, count: count)
        }
    }

    private static func bindSharedPort(_ address: SocketAddress, count: Int) throws(IOFailure)
        -> Bound
    {
        // On a shared port a second daemon would start without an error: try once without sharing.
        guard !ListeningSocket.isTaken(address) else { throw .addressInUse }
        let first = try ListeningSocket.bound(to: address, sharedPort: count > 1)
        let actual = first.address
        var sockets = [TransferBox(first)]
        for _ in 1..<count {
            sockets.append(TransferBox(try .bound(to: actual, sharedPort: true)))
        }
        return (actual, sockets, nil)
    }

    private static func bindAndDuplicate(
        _ listener: Listener, count: Int
    ) throws(IOFailure) -> Bound {
        try duplicates(
            of: .bound(to: listener.address, access: listener.access), count: count)
    }

    private static func duplicates(
        of socket: consuming ListeningSocket, count: Int
    ) throws(IOFailure) -> Bound {
        var sockets: [TransferBox<ListeningSocket>] = []
        for _ in 0..<count { sockets.append(TransferBox(try socket.duplicate())) }
        let address = socket.address
        return (address, sockets, TransferBox(consume socket))
    }
}
