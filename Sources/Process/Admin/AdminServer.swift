import Gateway
import HTTP
import HTTPServer
import Reactor
import UVReactor

/// The admin server: it has its own address and runs on the control loop, so that it responds while
/// the workers are busy. `AdminPages` renders its pages.
final class AdminServer {
    let process: AdministeredDaemon
    private let server: Server
    let address: SocketAddress

    /// - Parameters:
    ///   - plan: the names that are accepted in `Host`, and the token
    ///   - socket: where it listens
    ///   - budget: bounds its connections
    init(
        of process: AdministeredDaemon, _ plan: AdminPlan, on loop: UVLoop,
        _ socket: consuming ListeningSocket, within budget: DescriptorBudget
    ) throws(StartFailure) {
        self.process = process
        let pages = AdminPages(
            of: process, on: loop, hosts: plan.hosts, token: plan.token)
        var settings = ServerSettings()
        settings.connections = budget.adminConnections
        settings.closesSilent = true
        settings.refusedConnections = budget.adminRefusedConnections
        let server = Server(loop: loop, settings: settings, service: pages.respond)
        address = socket.address
        self.server = server
        do throws(IOFailure) {
            server.adopt(
                try loop.listen(on: socket) { [weak server] stream in server?.accept(stream) })
        } catch {
            throw .listen(address, error)
        }
    }

    func close() {
        server.close()
    }
}
