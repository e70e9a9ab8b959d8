import Gateway
import Promises
import Reactor
import UVReactor

/// The listening sockets of the process: inherited from a service manager, or bound at the start.
///
/// Owned by the daemon, on the control loop.
final class ListenerSockets {
    /// Where the process listens, with host names resolved.
    struct Addresses {
        /// In the order of the configuration.
        let listeners: [SocketAddress]
        /// Nil without an admin server.
        let admin: SocketAddress?
    }

    /// Whether they are a service manager's, so that they stay open when this process ends.
    private(set) var outliveProcess = false

    private let loop: UVLoop
    private var inherited: InheritedSockets
    private var bound: WorkerSockets?

    init(_ inherited: InheritedSockets, on loop: UVLoop) {
        self.inherited = inherited
        self.loop = loop
    }

    /// The bound addresses, with the port that the system chose where the configuration has 0.
    var addresses: [SocketAddress] { bound?.addresses ?? [] }

    func resolve(_ process: ProcessPlan) -> LocalPromise<Addresses> {
        let listeners = loop.local.all(
            process.listeners.map { $0.address.resolved(on: loop) })
        let admin: LocalPromise<SocketAddress?> =
            process.admin.map { $0.listen.address.resolved(on: loop).map { $0 } }
            ?? loop.local.value(nil)
        return loop.local.all(listeners, admin).map { Addresses(listeners: $0, admin: $1) }
    }

    /// Binds all listeners, or none; for each worker, a socket of each listener.
    func bind(
        _ process: ProcessPlan, at addresses: [SocketAddress]
    ) throws(StartFailure) -> [[TransferBox<ListeningSocket>]] {
        var listeners: [WorkerSockets.Listener] = []
        for (listener, address) in zip(process.listeners, addresses) {
            listeners.append(
                WorkerSockets.Listener(address: address, access: try listener.socket.access()))
        }
        outliveProcess = !inherited.isEmpty
        let sockets = try WorkerSockets(
            binding: listeners, workers: process.workers, inherited: &inherited)
        let byWorker = sockets.byWorker
        bound = consume sockets
        return byWorker
    }

    /// The inherited socket at the address of the admin server, or one that is bound now.
    func bindAdmin(
        _ plan: SocketPlan, at address: SocketAddress
    ) throws(StartFailure) -> ListeningSocket {
        let access = try plan.access()
        if let socket = inherited.take(address) { return socket }
        do throws(IOFailure) {
            return try .bound(to: address, access: access)
        } catch {
            throw .listen(address, error)
        }
    }

    /// Fails for an inherited socket that has the address of no listener.
    func checkAllTaken() throws(StartFailure) { try inherited.checkAllTaken() }

    /// Removes the files of unix sockets, so that later clients connect to the next process. Sockets
    /// that workers have taken stay open.
    func close() { bound = nil }
}
