import Basics

/// What a pool knows and decides: which connections exist, who may use which, and who waits.
///
/// Events in, actions out: it touches no stream, clock or promise, so `Pool`, which runs its
/// actions, stays free of decisions. Every event takes constant time and allocates nothing in the
/// steady state.
///
/// Three rules:
/// - The connection used last is leased first, and one that idled for `idleTimeout` is closed. So the
///   pool keeps as many connections as were in use at once within the last `idleTimeout`: while one
///   idles, no connection older than it is leased and none is made, so all others that are open now
///   were in use, or being made for a call, when it was returned. `maxIdle` bounds the memory.
/// - Who has to wait is served in order, by whatever comes first: a connection that is returned,
///   or one made meanwhile. There are never fewer attempts than waiters unless `maxConnections`
///   forbids them.
/// - The failure of an attempt is told to the one who waits longest, unless the attempts that
///   still run are enough for all.
struct PoolStateMachine<Waiter> {
    typealias Ticket = WaitQueue<Waiter>.Ticket

    /// What is to be done for one who wants a connection.
    enum Checkout {
        /// Use this one, idle until now.
        case lease(ConnectionID)
        /// Wait with this ticket; and make a new connection, if one is named.
        case wait(Ticket, connect: ConnectionID?)
        /// The pool is closed.
        case refuse
    }

    /// What is to be done about anything else.
    enum Action {
        case nothing
        /// Use this connection for the waiter, who left the line.
        case serve(Waiter, on: ConnectionID)
        /// Make this new connection.
        case connect(ConnectionID)
        /// Give up making this connection.
        case giveUp(ConnectionID)
        /// Close this connection.
        case retire(ConnectionID)
        /// Tell the waiter, who left the line, why no connection can be had; and make a new one
        /// for the next in line, if one is named.
        case fail(Waiter, ClientFailure, connect: ConnectionID?)
    }

    private enum State {
        case connecting
        case idle(since: Instant)
        case leased
    }

    private enum Mode {
        case open
        /// Serves, and keeps nothing.
        case draining
        /// Serves who waits already, and nobody else.
        case closed
    }

    private let maxIdle: Int
    private let maxConnections: Int
    private let idleTimeout: Duration

    private var connections = SlotTable<State>()
    private var idleConnections = SlotList()
    private var attempts = SlotList()
    private var waiters = WaitQueue<Waiter>()
    private var mode = Mode.open

    init(maxIdle: Int, maxConnections: Int?, idleTimeout: Duration) {
        self.maxIdle = maxIdle
        self.maxConnections = max(1, maxConnections ?? .max)
        self.idleTimeout = idleTimeout
    }

    /// Connections that wait for work.
    var idle: Int { idleConnections.count }
    /// Connections being made.
    var connecting: Int { attempts.count }
    /// Connections that work.
    var leased: Int { connections.count - idleConnections.count - attempts.count }
    /// Those who wait for a connection.
    var waiting: Int { waiters.count }
    /// Nobody works, nobody waits, nothing is open.
    var isEmpty: Bool { connections.count == 0 && waiters.count == 0 }

    // MARK: Lending

    /// Somebody wants a connection.
    mutating func checkout(_ waiter: Waiter) -> Checkout {
        if mode == .closed { return .refuse }
        if let slot = idleConnections.newest {
            connections.leave(slot, &idleConnections)
            connections[slot] = .leased
            return .lease(ConnectionID(slot: slot))
        }
        let ticket = waiters.join(waiter)
        return .wait(ticket, connect: startAttemptIfNeeded())
    }

    /// One who waited does so no longer. Its attempt is given up if nobody else needs it.
    mutating func cancelWaiter(_ ticket: Ticket) -> Action {
        waiters.leave(ticket)
        return removeSurplusAttempt().map(Action.giveUp) ?? .nothing
    }

    /// A leased connection did its work and may do more.
    mutating func returnConnection(_ id: ConnectionID, at now: Instant) -> Action {
        guard case .leased = connections[id.slot] else { return .nothing }
        if let waiter = waiters.takeFirst() { return .serve(waiter, on: id) }
        return makeIdle(id, at: now)
    }

    // MARK: Connections come

    /// An attempt succeeded.
    mutating func completeAttempt(_ id: ConnectionID, at now: Instant) -> Action {
        guard case .connecting = connections[id.slot] else { return .nothing }
        connections.leave(id.slot, &attempts)
        connections[id.slot] = .leased
        return returnConnection(id, at: now)
    }

    /// An attempt failed.
    mutating func failAttempt(_ id: ConnectionID, because failure: ClientFailure) -> Action {
        guard case .connecting = connections[id.slot] else { return .nothing }
        connections.leave(id.slot, &attempts)
        connections.remove(id.slot)
        guard waiters.count > attempts.count, let waiter = waiters.takeFirst() else {
            return .nothing
        }
        return .fail(waiter, failure, connect: startAttemptIfNeeded())
    }

    // MARK: Connections go

    /// A connection, leased or idle, is closed.
    mutating func removeConnection(_ id: ConnectionID) -> Action {
        switch connections[id.slot] {
        case .leased: break
        case .idle: connections.leave(id.slot, &idleConnections)
        case .connecting, nil: return .nothing
        }
        connections.remove(id.slot)
        return startAttemptIfNeeded().map(Action.connect) ?? .nothing
    }

    /// When the connection that idles longest has done so long enough; nil when none idles.
    var nextExpiry: Instant? {
        guard let slot = idleConnections.oldest, case .idle(let since) = connections[slot] else {
            return nil
        }
        return since + idleTimeout
    }

    /// Forgets one connection that has idled long enough, to be closed; nil when there is none.
    mutating func expire(at now: Instant) -> ConnectionID? {
        guard let due = nextExpiry, due <= now else { return nil }
        return removeOldestIdle()
    }

    // MARK: The end

    /// From now on nothing is kept: this pool is in nobody's plan any more.
    mutating func drain() {
        if mode == .open { mode = .draining }
    }

    /// From now on nothing is kept and nobody new is served.
    mutating func close() {
        mode = .closed
    }

    /// After `drain` or `close`: forgets one connection that nobody needs, to be closed or, while
    /// it is being made, given up; nil when there is none left.
    mutating func removeUnneeded() -> ConnectionID? {
        guard mode != .open else { return nil }
        return removeOldestIdle() ?? removeSurplusAttempt()
    }

    // MARK: Helpers

    /// Makes a leased connection idle, or closes the one that is least likely to be alive.
    private mutating func makeIdle(_ id: ConnectionID, at now: Instant) -> Action {
        guard mode == .open, maxIdle > 0 else {
            connections.remove(id.slot)
            return .retire(id)
        }
        let retired = idleConnections.count < maxIdle ? nil : removeOldestIdle()
        connections[id.slot] = .idle(since: now)
        connections.join(id.slot, &idleConnections)
        return retired.map(Action.retire) ?? .nothing
    }

    private mutating func removeOldestIdle() -> ConnectionID? {
        guard let slot = idleConnections.oldest else { return nil }
        connections.leave(slot, &idleConnections)
        connections.remove(slot)
        return ConnectionID(slot: slot)
    }

    private mutating func startAttemptIfNeeded() -> ConnectionID? {
        guard waiters.count > attempts.count, connections.count < maxConnections else { return nil }
        let slot = connections.insert(.connecting)
        connections.join(slot, &attempts)
        return ConnectionID(slot: slot)
    }

    /// Forgets the youngest attempt if there are more of them than waiters.
    private mutating func removeSurplusAttempt() -> ConnectionID? {
        guard attempts.count > waiters.count, let slot = attempts.newest else { return nil }
        connections.leave(slot, &attempts)
        connections.remove(slot)
        return ConnectionID(slot: slot)
    }
}

extension PoolStateMachine.Checkout: Equatable {}
extension PoolStateMachine.Action: Equatable where Waiter: Equatable {}

/// Names one connection of a pool, or the attempt to make it, until it is gone.
struct ConnectionID: Hashable {
    let slot: Int
}
