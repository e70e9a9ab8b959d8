import Basics
package import HTTP
package import Promises
package import Reactor

/// Serves HTTP/1.1 on one loop: accepts connections, knows them all, and lets them end in order.
///
/// Confined to its loop's thread. Made and owned by a core; it owns its listener and connections.
package final class Server {
    let loop: any Loop
    private(set) var settings: ServerSettings
    let hooks: ServerHooks
    let service: Service
    private(set) var patience: Patience
    var writer = ResponseWriter()
    let budget: ByteBudget

    private var listener: (any Listener)?
    /// Every open connection, each of which knows its slot.
    private var connections: [ServerConnection] = []
    private var drained: LocalResolver<Void>?
    private var draining: Local<Void>?
    private(set) var isDraining = false

    /// Requests that are with the service.
    package internal(set) var requestsInFlight = 0

    /// - Parameter service: called on the loop's thread, once a request.
    package init(
        loop: any Loop, settings: ServerSettings = ServerSettings(),
        hooks: ServerHooks = ServerHooks(),
        service: @escaping Service
    ) {
        self.loop = loop
        self.settings = settings
        self.hooks = hooks
        self.service = service
        patience = Patience(settings)
        budget = ByteBudget(limit: settings.bufferedBytes)
    }

    /// What is held in memory for requests and connections.
    package var bufferedBytes: Int { budget.held }

    /// Open connections, idle ones included.
    package var connectionCount: Int { connections.count }

    /// The exchanges without an answer yet, one of a connection at most; for somebody who looks on.
    package var exchanges: [Exchange] { connections.compactMap { $0.running?.exchange } }

    /// Listens; gives the address, with the port that the system chose for port 0.
    @discardableResult
    package func listen(
        on address: SocketAddress, sharedPort: Bool = false
    ) throws(IOFailure) -> SocketAddress {
        let listener = try loop.listen(on: address, sharedPort: sharedPort) { [weak self] stream in
            self?.accept(stream)
        }
        adopt(listener)
        return listener.address
    }

    /// Owns a listener that gives its connections to `accept`; `drain` and `close` close it.
    package func adopt(_ listener: any Listener) {
        self.listener = listener
    }

    /// Takes a connection that somebody else accepted.
    package func accept(_ stream: any ByteStream) {
        // What is told 503 lingers for a moment, so there may be some more than the limit, not many.
        guard connections.count < settings.connections + settings.refusedConnections else {
            return stream.close()
        }
        let isTooMany = connections.count >= settings.connections
        let connection = ServerConnection(stream, of: self, slot: connections.count)
        connections.append(connection)
        connection.start()
        if isTooMany { connection.turnAway() }
    }

    /// Other settings from now on; connections that are open keep the limits of their wire.
    package func adopt(_ settings: ServerSettings) {
        self.settings = settings
        patience = Patience(settings)
        budget.limit = settings.bufferedBytes
    }

    /// From now on every answer says that its connection closes, while new ones are still accepted:
    /// what a load balancer needs to see before `drain`.
    package func announceDrain() {
        isDraining = true
    }

    /// Accepts nothing more, closes idle connections, lets what runs be answered. Fulfils when the
    /// last connection is closed.
    package func drain() -> Local<Void> {
        if let draining { return draining }
        let resolver = LocalResolver<Void>(on: loop.core)
        let promise = resolver.promise
        drained = consume resolver
        draining = promise
        // Hands over what already waits to be accepted; it is served and closed like the rest.
        listener?.close()
        listener = nil
        isDraining = true
        for connection in connections { connection.handle(.drainRequested) }
        tellIfEmpty()
        return promise
    }

    /// Closes every connection at once, whatever it is doing.
    package func close() {
        listener?.close()
        listener = nil
        for connection in connections { connection.handle(.clientLost) }
    }

    private func tellIfEmpty() {
        if connections.isEmpty { drained.take()?.fulfill(()) }
    }

    /// Takes a closed connection off the table.
    func forget(_ connection: ServerConnection) {
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            last.slot = connection.slot
        }
        tellIfEmpty()
    }
}
