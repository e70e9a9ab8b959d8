package import Basics
package import HTTP
package import Promises
package import Reactor

/// Serves HTTP on one loop: accepts and lists connections, and drains them.
///
/// Confined to its loop's thread. Created and owned by a worker; it owns its listeners and
/// connections. An open connection refers to the server in turn, until it is closed and leaves the
/// table.
package final class Server {
    let loop: any Loop
    /// That of the loop.
    private let entropy: Entropy
    package var settings: ServerSettings { unsafe currentSettings }
    /// Unchecked: every request reads it, and no access calls other code.
    @exclusivity(unchecked) private var currentSettings: ServerSettings
    /// `settings.limits`, for the connections that are accepted from now on.
    private(set) var wireLimits: WireLimits
    let hooks: ServerHooks
    let service: (Request, Exchange) -> LocalPromise<Response>
    private(set) var timeouts: ConnectionTimeouts
    /// Unchecked: streams never call back while they are written to.
    @exclusivity(unchecked) var writer = ResponseWriter()
    @exclusivity(unchecked) var h2Writer = H2ResponseWriter()
    /// `settings.responseFields`; unchecked, since every request reads it.
    @exclusivity(unchecked) private(set) var responseFields = Fields()
    package let budget: ByteBudget
    /// Shared by all exchanges; has the budget.
    private let exchangeResources: ExchangeResources

    private var listeners: [OpenListener] = []
    /// By the number of the listener.
    private var listenerSettings: [ListenerSettings]
    /// Decides when handshakes begin.
    let handshakeQueue: HandshakeQueue
    /// How the TLS handshakes ended.
    package internal(set) var handshakes = HandshakeCounts()
    private lazy var handshakeLimit = HandshakeLimit(of: self)
    /// Every open connection, at the index that it stores as its slot.
    private var connections: [any ServedConnection] = []
    var openConnections: [any ServedConnection] { connections }
    /// How many of them were refused. They do not count for the limits: a client that keeps its refused
    /// connection open must not cause further refusals.
    private var refusedCount = 0
    /// The idle connections, the longest idle one first. Unchecked, like the next: no access calls
    /// foreign code.
    @exclusivity(unchecked) private var idle = SlotQueue()
    /// Where the next search for idle connections that hold memory begins; any other slot begins anew.
    private var nextIdle = -1
    /// The connections with unsent output, the longest waiting one first.
    @exclusivity(unchecked) private var unread = SlotQueue()
    private let clientConnections: ClientCounts
    private var drained: LocalResolver<Void>?
    private var draining: LocalPromise<Void>?
    private(set) var isDraining = false
    /// Whether `close` was called.
    private(set) var isClosed = false

    /// Requests in flight: those that the service handles. One whose body the service waits for
    /// counts when the body is complete.
    package internal(set) var requestsInFlight: Int {
        get { unsafe inFlight }
        set { unsafe inFlight = newValue }
    }
    /// Unchecked: no access calls other code.
    @exclusivity(unchecked) private var inFlight = 0

    /// Streamed responses whose heads were sent and whose bodies have not ended.
    package internal(set) var streams: Int {
        get { unsafe openStreams }
        set { unsafe openStreams = newValue }
    }
    /// Unchecked: no access calls other code.
    @exclusivity(unchecked) private var openStreams = 0

    /// What it refused, and which connections it closed to keep others.
    package internal(set) var losses = ServerLosses()

    /// From when on exchanges that wait for their clients may be searched again.
    var nextSearch = Instant(nanoseconds: .min)
    var searchTimer: Timer?

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
        self.loop = loop
        entropy = loop.entropy
        unsafe currentSettings = settings
        wireLimits = WireLimits(settings.limits)
        listenerSettings = listeners
        handshakeQueue = HandshakeQueue(loop)
        self.hooks = hooks
        self.service = service
        self.clientConnections = clientConnections
        timeouts = ConnectionTimeouts(settings)
        unsafe responseFields = settings.responseFields
        budget = ByteBudget(limit: settings.bufferedBytes)
        exchangeResources = ExchangeResources(local: loop.local, budget: budget)
        // Unowned: a weak reference would slow down every reference count of the server.
        budget.reclaim = { [unowned self] reason in reclaimMemory(reason) }
        exchangeResources.makeRoom = { [unowned self] in makeRoom() }
    }

    // An exchange that outlives the server may still use the budget.
    deinit {
        budget.reclaim = nil
        exchangeResources.makeRoom = nil
        searchTimer?.cancel()
    }

    /// The memory in use for requests and connections.
    package var bufferedBytes: Int { budget.bytesHeld }

    /// Open connections, idle and refused ones included.
    package var connectionCount: Int { connections.count }

    /// The exchanges that have not ended, for the admin page.
    package var exchanges: [Exchange] { connections.flatMap(\.exchanges) }

    // MARK: Exchanges

    /// A new exchange for a request, with the client's id if it is valid, and in the client's trace
    /// if there is one.
    func makeExchange(for head: RequestHead, from client: PeerAddress) -> Exchange {
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        return hooks.makeExchange(
            ExchangeStart(
                id: id ?? RequestID(from: entropy),
                trace: TraceContext(head.fields)
                    ?? TraceContext(from: entropy, sampledShare: settings.sampledShare),
                began: loop.now, peer: client, responseFields: unsafe responseFields,
                resources: exchangeResources))
    }

    // MARK: Listeners

    /// Starts to listen; returns the address, with the port that the system chose for port 0.
    ///
    /// - Parameter number: of the listener, for its settings
    @discardableResult
    package func listen(
        on address: SocketAddress, as number: Int = 0, sharedPort: Bool = false
    ) throws(IOFailure) -> SocketAddress {
        let listener = try loop.listen(on: address, sharedPort: sharedPort) { [weak self] stream in
            self?.accept(stream, from: number)
        }
        adopt(listener, as: number)
        return listener.address
    }

    /// Takes ownership of a listener that passes its connections to `accept`; `drain` and `close`
    /// close it.
    package func adopt(_ listener: any Listener, as number: Int = 0) {
        listeners.append(OpenListener(listener: listener, number: number))
        if handshakeLimit.isReached, hasTLS(number) { listener.pause() }
    }

    private struct OpenListener {
        let listener: any Listener
        let number: Int
    }

    private func closeListeners() {
        let open = listeners
        listeners = []
        for entry in open { entry.listener.close() }
    }

    /// Serves a connection, which a listener or another object accepted. Without a known peer it
    /// closes the connection: rules about addresses could not be applied to its requests, and the
    /// client has already reset it.
    ///
    /// - Parameter number: of the listener
    package func accept(_ stream: any ByteStream, from number: Int = 0) {
        guard stream.peer != nil else { return stream.close() }
        let client = countsClients ? ClientCounts.Client(stream.peer) : nil
        if let client,
            !clientConnections.add(
                client, as: .served, atMost: settings.connectionsPerClient ?? .max)
        {
            // Before room is made: a client beyond its own limit must not evict connections of others.
            return refuse(stream, from: number, .connectionsPerClient, client)
        }
        makeRoomForConnection()
        guard servedCount < settings.connections else {
            client.map { clientConnections.remove($0, as: .served) }
            return refuse(stream, from: number, .connections, nil)
        }
        if hasTLS(number) {
            // A handshake needs some 50 KiB.
            guard budget.hasRoom() else {
                losses.count(.bufferedBytes)
                client.map { clientConnections.remove($0, as: .served) }
                return stream.close()
            }
            return startHandshake(over: stream, from: number, client)
        }
        if settings(of: number).protocols.contains(.http2) {
            return awaitPreface(on: stream, from: number, client)
        }
        let connection = ServerConnection(
            stream, of: self, slot: connections.count, countedClient: client,
            facts: settings(of: number).plainFacts)
        connections.append(connection)
        connection.startReading()
    }

    private var countsClients: Bool {
        settings.connectionsPerClient != nil || settings.requestsPerClient != nil
    }

    /// The address of a connection's client, with its count of requests unless they are not limited: many
    /// clients share the address of a proxy.
    func peerAddress(
        of stream: any ByteStream, _ client: ClientCounts.Client?,
        _ facts: ConnectionFacts?
    ) -> PeerAddress {
        guard settings.requestsPerClient != nil, let client, let address = stream.peer,
            !hooks.isProxy(address)
        else { return PeerAddress(stream.peer, facts) }
        return PeerAddress(address, facts, requests: clientConnections.requests(of: client))
    }

    /// The connections that count for the limit.
    private var servedCount: Int { connections.count - refusedCount }

    /// Rejects a connection that is one too many. It lingers for a moment, so that a reset does not
    /// destroy its 503; beyond `refusedConnections`, it is closed without one.
    ///
    /// - Parameters:
    ///   - limit: the one that is reached
    ///   - client: the client whose own limit is reached, if it is that
    private func refuse(
        _ stream: any ByteStream, from number: Int, _ limit: ServerLosses.Refusal,
        _ client: ClientCounts.Client?
    ) {
        losses.count(limit)
        // A 503 is not worth a handshake, which costs more than several requests.
        guard !hasTLS(number), refusedCount < settings.refusedConnections,
            client.map({
                clientConnections.add($0, as: .refused, atMost: Self.refusedPerClient)
            }) ?? true
        else { return stream.close() }
        let connection = ServerConnection(
            stream, of: self, slot: connections.count, countedClient: client,
            facts: settings(of: number).plainFacts, isRefused: true)
        refusedCount += 1
        connections.append(connection)
        connection.startReading()
        connection.handle(.rejected(.overloaded(limit)))
    }

    /// Refused connections of a client beyond its own limit that may be open at once.
    private static let refusedPerClient = 4

    /// From nine tenths of the limit on, each new connection evicts the longest idle one, so that
    /// unused connections keep no client out. A recently idle one stays: its request may be on the
    /// way, and a burst of connections must not end it.
    private func makeRoomForConnection() {
        let mark = max(1, settings.connections - settings.connections / 10)
        guard servedCount >= mark else { return }
        if settings.closesSilent { return closeSilent() }
        guard let slot = unsafe idle.first,
            connections[slot].hasWaited(settings.settleTime, now: loop.now)
        else { return }
        losses.count(.idle)
        connections[slot].leaveIdle(.evicted)
    }

    /// Closes the longest silent connection. If most of them have an incomplete request or response,
    /// or none yet, it is one of these, so that they do not close the connections of probes, which pause
    /// between two requests.
    ///
    /// Looks at all connections, of which such a server has few.
    private func closeSilent() {
        let silent = connections.compactMap { connection in
            connection.isRefused ? nil : connection.silence.map { (connection, $0) }
        }
        let incomplete = silent.filter { !$0.1.isBetweenRequests }
        let candidates = incomplete.count > servedCount / 2 ? incomplete : silent
        guard let (connection, _) = candidates.min(by: { $0.1.since < $1.1.since }) else { return }
        losses.count(.idle)
        connection.close()
    }

    /// Changes the settings; open connections keep their limits of the wire protocol, and their TLS.
    ///
    /// - Parameter listeners: as many as before; nil leaves them unchanged
    package func adopt(_ settings: ServerSettings, listeners: [ListenerSettings]? = nil) {
        unsafe currentSettings = settings
        wireLimits = WireLimits(settings.limits)
        if let listeners, listeners.count == listenerSettings.count {
            // A listener that has TLS no more must not stay paused.
            if handshakeLimit.isReached { setSecureListeners(paused: false) }
            listenerSettings = listeners
            if handshakeLimit.isReached { setSecureListeners(paused: true) }
        }
        timeouts = ConnectionTimeouts(settings)
        unsafe responseFields = settings.responseFields
        budget.limit = settings.bufferedBytes
        handshakeLimit.update()
    }

    /// From now on every response announces the end of its connection, while new connections are
    /// still accepted: a load balancer needs to see that before `drain`.
    package func announceDrain() {
        isDraining = true
        for connection in connections { connection.announceDrain() }
    }

    /// Accepts nothing more, and keeps idle connections: a client that has just connected can still
    /// send its request, whose response closes the connection.
    package func stopAccepting() {
        isDraining = true
        closeListeners()
    }

    /// Stops accepting, closes idle connections, and completes the requests in flight. Fulfilled
    /// when the last connection is closed.
    package func drain() -> LocalPromise<Void> {
        if let draining { return draining }
        let resolver = LocalResolver<Void>(on: loop.local)
        let promise = resolver.promise
        drained = consume resolver
        draining = promise
        // Closing a listener first accepts its queued connections, except on an inherited socket;
        // they then end like other idle ones.
        closeListeners()
        isDraining = true
        for connection in connections { connection.leaveIdle(.drainRequested) }
        resolveDrainIfEmpty()
        return promise
    }

    /// Closes every connection at once, in any state.
    package func close() {
        isClosed = true
        searchTimer.take()?.cancel()
        closeListeners()
        for connection in connections { connection.close() }
    }

    private func resolveDrainIfEmpty() {
        if connections.isEmpty { drained.take()?.fulfill(()) }
    }

    /// Removes a closed connection from the table.
    func remove(_ connection: any ServedConnection) {
        let isRefused = connection.isRefused
        if isRefused { refusedCount -= 1 }
        connection.countedClient.map {
            clientConnections.remove($0, as: isRefused ? .refused : .served)
        }
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            unsafe idle.move(from: last.slot, to: connection.slot)
            unsafe unread.move(from: last.slot, to: connection.slot)
            handshakeLimit.move(from: last.slot, to: connection.slot)
            last.slot = connection.slot
        }
        resolveDrainIfEmpty()
    }

    // MARK: Handshakes

    private func settings(of number: Int) -> ListenerSettings {
        listenerSettings.indices.contains(number) ? listenerSettings[number] : ListenerSettings()
    }

    private func hasTLS(_ number: Int) -> Bool { settings(of: number).security != nil }

    private func startHandshake(
        over stream: any ByteStream, from number: Int, _ client: ClientCounts.Client?
    ) {
        let settings = settings(of: number)
        guard let security = settings.security else { return stream.close() }
        let connection = HandshakingConnection(
            of: self, slot: connections.count, countedClient: client, settings, from: stream.peer)
        connections.append(connection)
        handshakeLimit.add()
        connection.startHandshake(security, over: stream)
    }

    /// Connections in a handshake.
    package var handshakesInProgress: Int { handshakeLimit.inProgress }

    /// The handshake at a slot; nil for another connection.
    func handshake(at slot: Int) -> HandshakingConnection? {
        connections[slot] as? HandshakingConnection
    }

    /// A handshake waits for another party, or for the same one again. While it waits for its client, it is
    /// idle.
    func changeWait(of handshake: HandshakingConnection, to party: HandshakeProgress.Party) {
        unsafe idle.remove(handshake.slot)
        if party == .client { unsafe idle.append(handshake.slot) }
        handshakeLimit.changeWait(of: handshake.slot, to: party)
    }

    /// A handshake has succeeded: another connection takes its place.
    func completeHandshake(_ handshake: HandshakingConnection) {
        unsafe idle.remove(handshake.slot)
        handshakeLimit.remove(handshake.slot)
    }

    /// A handshake has failed.
    func removeHandshake(_ handshake: HandshakingConnection) {
        completeHandshake(handshake)
        remove(handshake)
    }

    func setSecureListeners(paused mustPause: Bool) {
        for entry in listeners where hasTLS(entry.number) {
            mustPause ? entry.listener.pause() : entry.listener.resume()
        }
    }

    // MARK: Protocols

    /// A connection whose protocol is known takes the place of another one.
    func replace(_ former: any ServedConnection, by connection: any ServedConnection) {
        connections[former.slot] = connection
    }

    private func awaitPreface(
        on stream: any ByteStream, from number: Int, _ client: ClientCounts.Client?
    ) {
        let connection = PrefaceConnection(
            stream, of: self, slot: connections.count, countedClient: client, settings(of: number))
        connections.append(connection)
        connection.startReading()
    }

    // MARK: Idle and unread connections

    /// The connection at a slot has changed its activity.
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

    /// The connection at a slot will be closed.
    func removeActivity(at slot: Int) {
        unsafe idle.remove(slot)
        unsafe unread.remove(slot)
    }

    private func reclaimMemory(_ reason: ByteBudget.ReclaimReason) {
        closeUnread(reason)
        if case .bytes(let count) = reason { closeIdle(for: count) }
    }

    /// Bytes will be refused: closes idle connections that hold memory, those of TLS and HTTP/2, the longest
    /// idle one first, until a quarter of the budget is free. A recently idle one stays, as in
    /// `makeRoomForConnection`.
    private func closeIdle(for count: Int) {
        let now = loop.now
        var checksLeft = Self.checksPerReclaim
        var next = unsafe idle.contains(nextIdle) ? nextIdle : idle.first
        while checksLeft > 0, budget.isLow(with: count), let slot = next {
            checksLeft -= 1
            let connection = connections[slot]
            next = unsafe idle.next(after: slot)
            guard connection.holdsMemory,
                connection.hasWaited(settings.settleTime, now: now)
            else { continue }
            losses.count(.idle)
            connection.leaveIdle(.evicted)
            // The last entry of the table takes the slot of one that is closed.
            if next == connections.count { next = slot }
        }
        nextIdle = next ?? -1
    }

    /// Memory is short: closes connections whose clients do not read their responses, the longest
    /// waiting one first, until a quarter of the budget is free.
    ///
    /// Clients that read are spared, and those that have waited only for a moment; the time is
    /// shorter if a request would otherwise be rejected.
    private func closeUnread(_ reason: ByteBudget.ReclaimReason) {
        let (count, grace) =
            switch reason {
            case .low: (0, settings.unreadGrace)
            case .bytes(let count): (count, settings.unreadGraceMin)
            }
        makeRoom(forBytes: count)
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
                losses.count(.unread)
                connection.closeUnread()
            }
        }
    }

    /// Connections that are checked in one reclaim, which bounds the work of one write.
    private static let checksPerReclaim = 32
}
