import Basics
import HTTPServer
import Reactor
import UVReactor

/// The demo's backends, on the control loop and on ports that the system chooses.
final class Demo {
    /// Their addresses, for the demo's configuration.
    private(set) var variables: [String: String] = [:]
    private var servers: [Server] = []

    init(on loop: UVLoop) throws(IOFailure) {
        let backends = DemoBackends(core: loop.core)
        for (variable, service) in backends.services {
            let server = Server(loop: loop, service: service)
            let address = try server.listen(on: .ip(.v4(0x7F00_0001), port: 0))
            variables[variable] = "http://\(address)"
            servers.append(server)
        }
    }

    func close() {
        for server in servers { server.close() }
    }
}
