import Assembly
import Gateway
import HTTP
import HTTPServer
import Reactor
import UVReactor

/// The admin server: it has its own address and runs on the control loop, so that it responds while
/// the workers are busy. `AdminPages` renders its pages.
final class Admin {
    private let server: Server
    let address: SocketAddress

    /// - Parameters:
    ///   - plan: the names that are accepted in `Host`, and the token
    ///   - socket: where it listens
    ///   - budget: bounds its connections
    init(
        daemon: Daemon, _ plan: AdminPlan, on socket: consuming ListeningSocket,
        within budget: DescriptorBudget
    ) throws(IOFailure) {
        let pages = AdminPages(
            of: daemon, on: daemon.loop, hosts: plan.hosts, token: plan.token)
        var settings = ServerSettings()
        settings.connections = budget.adminConnections
        settings.closesSilent = true
        settings.refusedConnections = budget.adminRefusedConnections
        let server = Server(loop: daemon.loop, settings: settings, service: pages.respond)
        address = socket.address
        server.adopt(
            try daemon.loop.listen(on: socket) { [weak server] stream in server?.accept(stream) })
        self.server = server
    }

    func close() {
        server.close()
    }
}
