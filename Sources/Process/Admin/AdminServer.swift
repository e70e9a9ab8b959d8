import Gateway
import HTTP
import HTTPServer
import Reactor
import UVReactor

/// The admin server: it has its own address and runs on the control loop, so that it responds while
/// the workers are busy. `AdminPages` renders its pages.
final class AdminServer {
    private let server: Server
    let address: SocketAddress

    /// - Parameters:
    ///   - plan: the names that are accepted in `Host`, and the token
    ///   - socket: where it listens
    ///   - budget: bounds its connections
    init(
        of process: any AdministeredProcess, _ plan: AdminPlan, on loop: UVLoop,
        _ socket: consuming ListeningSocket, within budget: DescriptorBudget
    ) throws(IOFailure) {
        let pages = AdminPages(
            of: process, on: loop, hosts: plan.hosts, token: plan.token)
        var settings = ServerSettings()
        settings.connections = budget.adminConnections
        settings.closesSilent = true
        settings.refusedConnections = budget.adminRefusedConnections
        let server = Server(loop: loop, settings: settings, service: pages.respond)
        address = socket.address
        server.adopt(
            try loop.listen(on: socket) { [weak server] stream in server?.accept(stream) })
        self.server = server
    }

    func close() {
        server.close()
    }
}
