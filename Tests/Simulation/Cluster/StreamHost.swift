import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated host of a backend of endpoints with `proxy`: it reads requests and responds in pieces, as
/// the script of each says.
final class StreamHost {
    let address: SocketAddress
    private unowned let cluster: Cluster
    private let loop: SimLoop
    private let target: BackendHost
    private var listener: (any Listener)?
    private var connections: [StreamHostConnection] = []

    init(at address: SocketAddress, _ target: BackendHost, on loop: SimLoop, of cluster: Cluster) {
        self.address = address
        self.target = target
        self.loop = loop
        self.cluster = cluster
    }

    func listen() throws(IOFailure) {
        listener = try loop.listen(on: address, sharedPort: false) { [unowned self] stream in
            guard let stream = stream as? SimStream else { return }
            connections.append(StreamHostConnection(stream, target, loop, of: cluster))
        }
    }

    /// Closes the listener and all connections.
    func close() {
        listener?.close()
        listener = nil
        for connection in connections { connection.close() }
        connections = []
    }
}
