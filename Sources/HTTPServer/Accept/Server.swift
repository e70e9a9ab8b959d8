package import Basics
package import HTTP
package import Promises
package import Reactor

/// Serves HTTP on one loop: passes accepted connections through the stages of their listener, within the
/// limits, and drains them.
///
/// Created and owned by a worker. Open connections do not hold it: its owner closes it. Confined to its
/// loop's thread.
package final class Server {
    /// What the connections share.
    let context: ServerContext
    let table: ConnectionTable
    private let admission: Admission
    private let listeners: Listeners
    private let handshakeControl: Handshakes
    /// By the number of the listener.
    private var pipelines: [AcceptPipeline]

    /// - Parameters:
    ///   - listeners: by the number of the listener; at least one
    ///   - clientConnections: counts the connections of each client, for all workers together
    ///   - service: called on the loop's thread, once a request.
    package init(
        loop: any Loop, settings: ServerSettings = ServerSettings(),
        listeners: [ListenerSettings] = [ListenerSettings()],
        hooks: ServerHooks = ServerHooks(),
        clientConnections: ClientCounts = ClientCounts(),
        service: @escaping (Request, Exchange) -> LocalPromise<Response>
    ) {
        context = ServerContext(
            loop: loop, settings: settings, hooks: hooks, clients: clientConnections,
            service: service)
        table = ConnectionTable(clientConnections, on: loop.local, listeners: listeners.count)
        admission = Admission(to: context, table)
        self.listeners = Listeners(haveTLS: listeners.map(\.hasTLS))
        handshakeControl = Handshakes(of: context, in: table, self.listeners)
        pipelines = []
        pipelines = listeners.indices.map { makePipeline(listeners[$0], number: $0) }
    }

    // MARK: State

    package var settings: ServerSettings { context.settings }

    package var budget: ByteBudget { context.budget }

    /// The memory in use for requests and connections.
    package var bufferedBytes: Int { context.budget.bytesHeld }

    /// Open connections, idle and refused ones included.
    package var connectionCount: Int { table.count }

    /// The connections of each listener, by its number.
    package var listenerConnections: [ListenerConnections] { table.listeners }

    /// The exchanges that have not ended, for the admin page.
    package var exchanges: [Exchange] { table.connections.flatMap(\.exchanges) }

    /// Requests in flight: those that the service handles. One whose body the service waits for
    /// counts when the body is complete.
    package var requestsInFlight: Int { context.requestsInFlight }

    /// Streamed responses whose heads were sent and whose bodies have not ended.
    package var streams: Int { context.streams }

    /// What it refused, and which connections it closed to keep others.
    package var losses: ServerLosses { context.losses }

    /// How the TLS handshakes ended.
    package var handshakes: HandshakeCounts { handshakeControl.counts }

    /// Connections in a handshake.
    package var handshakesInProgress: Int { handshakeControl.inProgress }

    // MARK: Listeners

    /// Starts to listen; returns the address, with the port that the system chose for port 0.
    ///
    /// - Parameter number: of the listener, for its settings
    @discardableResult
    package func listen(
        on address: SocketAddress, as number: Int = 0, sharedPort: Bool = false
    ) throws(IOFailure) -> SocketAddress {
        let listener = try context.loop.listen(on: address, sharedPort: sharedPort) {
            [weak self] stream in self?.accept(stream, from: number)
        }
        adopt(listener, as: number)
        return listener.address
    }

    /// Takes ownership of a listener that passes its connections to `accept`; `drain` and `close`
    /// close it.
    package func adopt(_ listener: any Listener, as number: Int = 0) {
        listeners.add(listener, as: number)
    }

    /// The stages of a listener.
    private func makePipeline(_ listener: ListenerSettings, number: Int) -> AcceptPipeline {
        var stages: [any AcceptStage] = []
        if let security = listener.security {
            stages.append(
                TLSStage(
                    security, timeout: listener.handshakeTimeout, redirect: listener.redirect,
                    handshakeControl))
        } else if listener.protocols.contains(.http2) {
            stages.append(PrefaceStage(servesHTTP1: listener.protocols.contains(.http1)))
        }
        return AcceptPipeline(
            stages, plainFacts: listener.plainFacts, number: number, of: context, in: table)
    }

    // MARK: Connections

    /// Serves a connection, which a listener or another object accepted. Without a known peer it
    /// closes the connection: rules about addresses could not be applied to its requests, and the
    /// client has already reset it.
    ///
    /// - Parameter number: of the listener
    package func accept(_ stream: any ByteStream, from number: Int = 0) {
        guard stream.peer != nil else { return stream.close() }
        let pipeline =
            pipelines.indices.contains(number)
            ? pipelines[number] : makePipeline(.init(), number: number)
        switch admission.admit(from: stream.peer, hasTLS: pipeline.hasTLS) {
        case .admitted(let client): pipeline.begin(stream, for: client)
        case .refused(let limit, let client): pipeline.refuse(stream, for: client, limit)
        case .closed: stream.close()
        }
    }

    /// Changes the settings; open connections keep their limits of the wire protocol, and their TLS.
    ///
    /// - Parameter listeners: as many as before; nil leaves them unchanged
    package func adopt(_ settings: ServerSettings, listeners: [ListenerSettings]? = nil) {
        context.adopt(settings)
        if let listeners, listeners.count == pipelines.count {
            pipelines = listeners.indices.map { makePipeline(listeners[$0], number: $0) }
            self.listeners.adopt(haveTLS: listeners.map(\.hasTLS))
        }
        handshakeControl.updateLimit()
    }

    // MARK: End

    /// From now on every response announces the end of its connection, while new connections are
    /// still accepted: a load balancer needs to see that before `drain`.
    package func announceDrain() { table.announceDrain() }

    /// Accepts nothing more, and keeps idle connections: a client that has just connected can still
    /// send its request, whose response closes the connection.
    package func stopAccepting() {
        table.beginDraining()
        listeners.close()
    }

    /// Stops accepting, closes idle connections, and completes the requests in flight. Fulfilled
    /// when the last connection is closed.
    package func drain() -> LocalPromise<Void> {
        // The queued connections that it accepts end like other idle ones.
        listeners.close()
        return table.drain()
    }

    /// Closes every connection at once, in any state.
    package func close() {
        // First: a listener accepts what waits for it, which may end other connections.
        table.beginClosing()
        admission.close()
        listeners.close()
        table.close()
    }
}
