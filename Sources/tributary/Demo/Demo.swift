import Basics
import HTTPServer
import Process
import Reactor
import UVReactor

/// The servers of the demo's backends, each on its own port.
final class Demo {
    /// In a fixed order.
    private(set) var addresses: [(name: String, address: SocketAddress)] = []
    private var servers: [Server] = []

    /// - Parameters:
    ///   - host: the address to listen on
    ///   - firstPort: the port of the first server, the others follow it; 0 lets the system choose
    ///     all ports
    init(
        on loop: UVLoop, host: IPAddress = .v4(0x7F00_0001), firstPort: UInt16 = 0
    ) throws(StartFailure) {
        let backends = DemoBackends(local: loop.local)
        for (index, (name, service)) in backends.services.enumerated() {
            let port = firstPort == 0 ? 0 : firstPort &+ UInt16(index)
            let address = SocketAddress.ip(host, port: port)
            let server = Server(loop: loop, service: service)
            do throws(IOFailure) {
                addresses.append((name, try server.listen(on: address)))
            } catch {
                close()
                throw .listen(address, error)
            }
            servers.append(server)
        }
    }

    /// Their addresses, for the demo's configuration: `DEMO_STOCK`.
    var variables: [String: String] {
        Dictionary(
            uniqueKeysWithValues: addresses.map {
                ("DEMO_\($0.name.uppercased())", "http://\($0.address)")
            })
    }

    func close() {
        for server in servers { server.close() }
    }
}
