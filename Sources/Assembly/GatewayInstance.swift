package import Basics
package import Gateway
import HTTP
import HTTPClient
import HTTPServer
package import Promises
package import Reactor

/// One thread with everything it owns: a loop, the pools towards the backends, the gateway, the
/// server towards the clients.
///
/// Built on its thread and confined to it. It knows no libuv: the simulated machine runs the same
/// cores as the real one. Requests come in through `server`, which asks `gateway`; nothing here is on
/// their way but one closure.
package final class GatewayInstance {
    private let loop: any Loop
    private let client: Client
    private let log: Log
    private let ledger: RequestRecorder
    private let installed: Installed
    private var server: Server?

    /// The gateway that new requests go to. Apart from the core, so that the server, which the core
    /// owns, needs no reference back to it.
    private final class Installed {
        var gateway: GatewayService

        init(_ gateway: GatewayService) {
            self.gateway = gateway
        }
    }

    /// - Parameter shared: that of the process
    package init(_ plan: Plan, loop: any Loop, log: Log, shared: Shared) {
        self.loop = loop
        self.log = log
        client = Client(loop: loop)
        ledger = RequestRecorder(loop: loop, log: log)
        installed = Installed(
            GatewayService(plan, slots: ledger.open(plan), client: client, loop: loop))
        client.retireUnused()
        var hooks = ledger.hooks
        hooks.rejection = { [installed] response, request, exchange in
            installed.gateway.reject(with: response, request, exchange)
        }
        server = Server(
            loop: loop, settings: plan.server, hooks: hooks, clients: shared.clients
        ) { [installed] request, exchange in installed.gateway.answer(request, exchange) }
        log.onFirstLine = { [loop, log] in
            loop.timer(after: Self.logDelay) { log.flush() }
        }
        let shortageLog = ShortageLog(log)
        loop.descriptors.onShortage = { [unowned loop] operation in
            shortageLog.record(operation, at: loop.now)
        }
    }

    /// Long enough to gather the lines of many requests, short for somebody who watches.
    private static let logDelay = Duration.milliseconds(100)

    // MARK: Serving

    /// Begins to accept clients; gives the address with the port that the system chose for port 0.
    package func listen(
        on address: SocketAddress, sharedPort: Bool
    ) throws(IOFailure) -> SocketAddress {
        guard let server else { throw .cancelled }
        return try server.listen(on: address, sharedPort: sharedPort)
    }

    /// Owns a listener that was opened elsewhere and gives its connections to `accept`; a drain closes
    /// it.
    package func adopt(_ listener: any Listener) {
        if let server { server.adopt(listener) } else { listener.close() }
    }

    /// Takes a connection that was accepted elsewhere.
    package func accept(_ stream: any ByteStream) {
        if let server { server.accept(stream) } else { stream.close() }
    }

    /// Puts a new plan in the place of the present one. Requests in flight finish on the old one;
    /// connections to backends that did not change are kept, and so is what is known of them.
    package func install(_ plan: Plan) {
        let former = installed.gateway
        installed.gateway = GatewayService(
            plan, slots: ledger.open(plan), client: client, loop: loop, replacing: former)
        former.stop()
        client.retireUnused()
        log.level = plan.process.log.level.level
        server?.adopt(plan.server)
        log.write(.info, "configuration installed")
    }

    /// Every answer from now on closes its connection; new ones are still accepted.
    package func announceDrain() {
        server?.announceDrain()
    }

    /// Accepts nothing more and fulfils when the last request is answered, or cut off because the
    /// time for draining is up. The core is of no use then.
    package func drain() -> LocalPromise<Void> {
        guard let server else { return loop.local.value(()) }
        return server.drain()
            .timeout(installed.gateway.plan.process.drain.timeout)
            .recover { [loop, log] _ in
                log.write(.warning, "requests cut off at the end of the drain time") { line in
                    line.add("requests", server.exchanges.count)
                }
                server.close()
                return loop.local.value(())
            }
            .then { [self] in close() }
    }

    /// Ends everything at once; fulfils when the last connection is closed.
    package func close() -> LocalPromise<Void> {
        server?.close()
        server = nil
        installed.gateway.stop()
        log.onFirstLine = nil
        loop.descriptors.onShortage = { _ in }
        log.flush()
        return client.close()
    }

    // MARK: Telling

    /// This core's numbers, as a value that may leave it.
    package var snapshot: WorkerSnapshot {
        WorkerSnapshot(
            meter: ledger.meter, backends: installed.gateway.backendStates,
            connections: server?.connectionCount ?? 0,
            bufferedBytes: server?.bufferedBytes ?? 0,
            descriptorShortages: loop.descriptors.shortages,
            requests: server?.exchanges.map(ledger.state) ?? [])
    }
}
