import Reactor
import UVReactor

/// The listening sockets that a service manager opened for this process (socket activation).
///
/// Each belongs to the address of `listen` or `admin` that it is bound to. A socket that matches none
/// ends the start: clients that connect to it would wait forever.
package struct InheritedSockets {
    private struct Entry {
        let name: String
        let address: SocketAddress
        let socket: TransferBox<ListeningSocket>
    }

    private var entries: [Entry] = []

    /// Takes over the descriptors of the environment.
    package init(_ environment: ServiceEnvironment) throws(StartFailure) {
        for (index, name) in environment.socketNames.enumerated() {
            do throws(IOFailure) {
                let socket = try ListeningSocket.inherited(
                    ServiceEnvironment.firstSocket + CInt(index))
                let address = socket.address
                entries.append(Entry(name: name, address: address, socket: TransferBox(socket)))
            } catch {
                throw .service(
                    .socket(name: name, reason: "no listening stream socket (\(error))"))
            }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The socket that is bound to this address, for the first caller; nil if there is none.
    mutating func take(_ address: SocketAddress) -> ListeningSocket? {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return nil }
        return entries.remove(at: index).socket.take()
    }

    /// Fails for a socket that nothing has taken.
    func checkAllTaken() throws(StartFailure) {
        guard let entry = entries.first else { return }
        throw .service(
            .socket(
                name: entry.name,
                reason: "\(entry.address) is neither an address of 'listen' nor of 'admin'"))
    }
}
