import Promises

/// Every open connection of a server, its activity, and the end of all of them: drain and close.
///
/// The server and its connections hold it; a connection leaves it when it is closed. Confined to the
/// loop's thread.
final class ConnectionTable {
    /// Each at the index that it stores as its slot.
    private(set) var connections: [any ServedConnection] = []
    /// How many of them were refused. They do not count for the limits: a client that keeps its refused
    /// connection open must not cause further refusals.
    private(set) var refusedCount = 0
    /// By the number of the listener.
    private(set) var listeners: [ListenerConnections]
    /// The idle connections, the longest idle one first.
    private var idle = SlotQueue()
    /// The connections with unsent output, the longest waiting one first.
    private var unread = SlotQueue()
    /// The handshakes that wait for their clients, the longest waiting one first.
    var silentHandshakes = SlotQueue()
    private let clients: ClientCounts
    private let local: LocalContext
    private var drained: LocalResolver<Void>?
    private var draining: LocalPromise<Void>?
    /// Whether every response announces the end of its connection.
    private(set) var isDraining = false
    /// Whether all connections were closed at once.
    private(set) var isClosed = false

    init(_ clients: ClientCounts, on local: LocalContext, listeners: Int = 1) {
        self.listeners = Array(repeating: ListenerConnections(), count: listeners)
        self.clients = clients
        self.local = local
    }

    /// Open connections, idle and refused ones included.
    var count: Int { connections.count }

    /// The connections that count for the limit.
    var servedCount: Int { connections.count - refusedCount }

    // MARK: Connections

    /// Stores a connection at its slot: a new one behind all others, or one that takes the place of
    /// another.
    func store(_ connection: any ServedConnection) {
        let slot = connection.slot
        assert(slot <= count, "a slot beyond the end of the table")
        guard slot == count else {
            connections[slot] = connection
            return
        }
        let acceptance = connection.acceptance
        if acceptance.isRefused { refusedCount += 1 }
        let listener = Int(acceptance.listener)
        if listeners.indices.contains(listener) { listeners[listener].begin() }
        connections.append(connection)
    }

    /// Removes a closed connection, and its count for its client. The last connection takes its slot.
    func remove(_ connection: any ServedConnection) {
        assert(connections[connection.slot] === connection, "another connection has its slot")
        let acceptance = connection.acceptance
        let isRefused = acceptance.isRefused
        if isRefused { refusedCount -= 1 }
        let listener = Int(acceptance.listener)
        if listeners.indices.contains(listener) { listeners[listener].end() }
        assert(
            !idle.contains(connection.slot) && !unread.contains(connection.slot),
            "a closed connection is active")
        acceptance.client.map { clients.remove($0, as: isRefused ? .refused : .served) }
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            idle.move(from: last.slot, to: connection.slot)
            unread.move(from: last.slot, to: connection.slot)
            silentHandshakes.move(from: last.slot, to: connection.slot)
            last.slot = connection.slot
        }
        assert(refusedCount >= 0 && servedCount >= 0, "more connections are refused than open")
        resolveDrainIfEmpty()
    }

    // MARK: Activity

    /// The connection at a slot has changed its activity.
    func updateActivity(at slot: Int, from former: Activity, to activity: Activity) {
        switch former {
        case .busy: break
        case .idle: idle.remove(slot)
        case .unread: unread.remove(slot)
        }
        switch activity {
        case .busy: break
        case .idle: idle.append(slot)
        case .unread: unread.append(slot)
        }
    }

    /// The connection at a slot will be closed.
    func removeActivity(at slot: Int) {
        idle.remove(slot)
        unread.remove(slot)
    }

    func isIdle(_ slot: Int) -> Bool { idle.contains(slot) }

    /// The slot of the longest idle connection.
    var firstIdle: Int? { idle.first }

    /// The slot of the connection that has been idle for the longest time after the one at `slot`.
    func nextIdle(after slot: Int) -> Int? { idle.next(after: slot) }

    /// The slot of the connection whose output has been unsent for the longest time.
    var firstUnread: Int? { unread.first }

    /// The client of the connection at a slot reads: all others are looked at before it.
    func moveToEndOfUnread(_ slot: Int) {
        unread.remove(slot)
        unread.append(slot)
    }

    // MARK: End

    /// From now on every response closes its connection.
    func beginDraining() { isDraining = true }

    /// The same; the clients learn of it as early as their protocol permits.
    func announceDrain() {
        isDraining = true
        for connection in connections { connection.announceDrain() }
    }

    /// Closes idle connections, and completes the requests in flight. Fulfilled when the last
    /// connection is closed.
    func drain() -> LocalPromise<Void> {
        if let draining { return draining }
        let resolver = LocalResolver<Void>(on: local)
        let promise = resolver.promise
        drained = consume resolver
        draining = promise
        isDraining = true
        for connection in connections { connection.leaveIdle(.drainRequested) }
        resolveDrainIfEmpty()
        return promise
    }

    /// Connections that end from now on were cut off.
    func beginClosing() { isClosed = true }

    /// Closes every connection at once, in any state.
    func close() {
        beginClosing()
        for connection in connections { connection.close() }
    }

    private func resolveDrainIfEmpty() {
        if connections.isEmpty { drained.take()?.fulfill(()) }
    }
}

/// The connections of one listener, refused ones included.
package struct ListenerConnections: Sendable, Equatable {
    package private(set) var open = 0
    package private(set) var accepted = 0

    package init(open: Int = 0, accepted: Int = 0) {
        self.open = open
        self.accepted = accepted
    }

    mutating func begin() {
        open += 1
        accepted &+= 1
    }

    mutating func end() { open -= 1 }

    package mutating func add(_ other: ListenerConnections) {
        open += other.open
        accepted &+= other.accepted
    }
}
