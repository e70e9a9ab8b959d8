import Basics
package import HTTP
package import Promises
package import Reactor

/// Serves HTTP on one loop: accepts connections, knows them all, and lets them end in order.
///
/// Confined to its loop's thread. Made and owned by a core; it owns its listeners and connections.
package final class Server {
    let loop: any Loop
    private(set) var settings: ServerSettings
    let hooks: ServerHooks
    let service: (Request, Exchange) -> LocalPromise<Response>
    private(set) var timeouts: ConnectionTimeouts
    /// Unchecked: streams never call back while they are written to.
    @exclusivity(unchecked) var writer = ResponseWriter()
    let budget: ByteBudget

    private var listeners: [any Listener] = []
    /// Every open connection, each of which knows its slot.
    private var connections: [any ServedConnection] = []
    /// The connections that wait for a request, the one that has waited longest first. Unchecked, like
    /// the next: no access calls anybody.
    @exclusivity(unchecked) private var idle = SlotQueue()
    /// The connections whose output waits for the client, the one that has waited longest first.
    @exclusivity(unchecked) private var unread = SlotQueue()
    private let clients: ClientConnections
    private var drained: LocalResolver<Void>?
    private var draining: LocalPromise<Void>?
    private(set) var isDraining = false
    /// Everything was closed at once.
    private(set) var isClosed = false

    /// Requests that are with the service, and whose body it does not wait for.
    package internal(set) var requestsInFlight = 0

    /// Whether another request may go to work.
    var hasPermits: Bool { requestsInFlight < settings.requestsInFlight }

    /// - Parameters:
    ///   - clients: counts the connections of each client, for all workers together
    ///   - service: called on the loop's thread, once a request.
    package init(
        loop: any Loop, settings: ServerSettings = ServerSettings(),
        hooks: ServerHooks = ServerHooks(), clients: ClientConnections = ClientConnections(),
        service: @escaping (Request, Exchange) -> LocalPromise<Response>
    ) {
        self.loop = loop
        self.settings = settings
        self.hooks = hooks
        self.service = service
        self.clients = clients
        timeouts = ConnectionTimeouts(settings)
        budget = ByteBudget(limit: settings.bufferedBytes)
        // Unowned: a weak reference would slow down every count of references to the server.
        budget.reclaim = { [unowned self] reason in closeUnread(reason) }
    }

    // An exchange that outlives the server may still use the budget.
    deinit { budget.reclaim = nil }

    /// What is held in memory for requests and connections.
    package var bufferedBytes: Int { budget.bytesHeld }

    /// Open connections, idle ones included.
    package var connectionCount: Int { connections.count }

    /// The exchanges that have not ended, for the admin page.
    package var exchanges: [Exchange] { connections.flatMap(\.exchanges) }

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

    /// Owns one more listener that gives its connections to `accept`; `drain` and `close` close it.
    package func adopt(_ listener: any Listener) {
        listeners.append(listener)
    }

    private func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Takes a connection that was accepted elsewhere.
    package func accept(_ stream: any ByteStream) {
        let client = settings.connectionsPerClient.flatMap { _ in
            ClientConnections.Client(stream.peer)
        }
        let excess =
            client.map { clients.opened($0) - (settings.connectionsPerClient ?? .max) } ?? 0
        // A client beyond its own limit takes no room from others.
        if excess <= 0 { makeRoomForConnection() }
        // A refused connection lingers for a moment, so there may be some more than the limit, not
        // many: of one client a few, and of all together `refusedConnections`.
        let (most, overflows) = settings.connections.addingReportingOverflow(
            settings.refusedConnections)
        guard excess <= Self.surplusPerClient, overflows || connections.count < most else {
            client.map(clients.closed)
            return stream.close()
        }
        let isTooMany = connections.count >= settings.connections || excess > 0
        let connection = ServerConnection(
            stream, of: self, slot: connections.count, countedClient: client)
        connections.append(connection)
        connection.startReading()
        if isTooMany { connection.handle(.rejected(.overloaded)) }
    }

    /// From nine tenths of the limit on, each new connection takes the place of the one that has been
    /// idle longest, so that unused connections keep no client out. One that became idle just now
    /// stays: its request may be on the way, and a burst of connections must not end it.
    private func makeRoomForConnection() {
        let mark = max(1, settings.connections - settings.connections / 10)
        guard connections.count >= mark, let slot = unsafe idle.first,
            connections[slot].hasWaited(settings.settleTime, now: loop.now)
        else { return }
        connections[slot].leaveIdle(.evicted)
    }

    /// How many connections of one client beyond its limit may be open at once for their 503.
    private static let surplusPerClient = 4

    /// Other settings from now on; connections that are open keep the limits of their wire.
    package func adopt(_ settings: ServerSettings) {
        self.settings = settings
        timeouts = ConnectionTimeouts(settings)
        budget.limit = settings.bufferedBytes
    }

    /// From now on every answer says that its connection closes, while new ones are still accepted:
    /// what a load balancer needs to see before `drain`.
    package func announceDrain() {
        isDraining = true
    }

    /// Accepts nothing more, closes idle connections, lets what runs be answered. Fulfils when the
    /// last connection is closed.
    package func drain() -> LocalPromise<Void> {
        if let draining { return draining }
        let resolver = LocalResolver<Void>(on: loop.local)
        let promise = resolver.promise
        drained = consume resolver
        draining = promise
        // Hands over what already waits to be accepted, which then ends like other idle connections.
        closeListeners()
        isDraining = true
        for connection in connections { connection.leaveIdle(.drainRequested) }
        resolveDrainIfEmpty()
        return promise
    }

    /// Closes every connection at once, whatever it is doing.
    package func close() {
        isClosed = true
        closeListeners()
        for connection in connections { connection.close() }
    }

    private func resolveDrainIfEmpty() {
        if connections.isEmpty { drained.take()?.fulfill(()) }
    }

    /// Takes a closed connection off the table.
    func remove(_ connection: any ServedConnection) {
        connection.countedClient.map(clients.closed)
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            unsafe idle.move(from: last.slot, to: connection.slot)
            unsafe unread.move(from: last.slot, to: connection.slot)
            last.slot = connection.slot
        }
        resolveDrainIfEmpty()
    }

    // MARK: Idle and unread connections

    /// The connection at a slot changes its activity.
    func updateActivity(at slot: Int, from former: Activity, to activity: Activity) {
        switch former {
        case .busy: break
        case .idle: unsafe idle.remove(slot)
        case .unread: unsafe unread.remove(slot)
        }
        switch activity {
        case .busy: break
        case .idle: unsafe idle.append(slot)
        case .unread: unsafe unread.append(slot)
        }
    }

    /// The connection at a slot is about to be closed.
    func removeActivity(at slot: Int) {
        unsafe idle.remove(slot)
        unsafe unread.remove(slot)
    }

    /// Memory is short: closes connections whose clients do not read their answers, the one that has
    /// waited longest first, until a quarter of the budget is free.
    ///
    /// Clients that read are spared, and those that have just begun to wait; but where a request would
    /// be refused, a client has less time to begin.
    private func closeUnread(_ reason: ByteBudget.ReclaimReason) {
        let (count, grace) =
            switch reason {
            case .low: (0, settings.unreadGrace)
            case .bytes(let count): (count, settings.unreadGraceMin)
            }
        let now = loop.now
        var checksLeft = Self.checksPerReclaim
        while checksLeft > 0, budget.isLow(with: count), let slot = unsafe unread.first {
            checksLeft -= 1
            let connection = connections[slot]
            // All others have waited for less.
            guard connection.hasWaited(grace, now: now) else { return }
            if connection.readsOutput(now: now) {
                unsafe unread.remove(slot)
                unsafe unread.append(slot)
            } else {
                connection.closeUnread()
            }
        }
    }

    /// Connections that are looked at when memory is reclaimed once: bounds the work of one write.
    private static let checksPerReclaim = 32
}
