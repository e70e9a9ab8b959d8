import Basics

/// The decisions of a pool: which connections exist, which call may use which, and which calls
/// wait.
///
/// Events in, actions out: it uses no stream, clock or promise, and `Pool` performs its actions.
/// Every event takes constant time and allocates nothing in the steady state.
///
/// Three rules:
/// - The most recently used connection is leased first, and a connection that was idle for
///   `idleTimeout` is closed. So the pool keeps only as many connections as were in use at once
///   within the last `idleTimeout`. `maxIdle` bounds the memory.
///   Proof: let C be the connection that has been idle the longest. While C is idle, no call needs
///   a new connection, and no connection that became idle before C is leased, because C, used more
///   recently, would be leased before it. So every other open connection was in use, or being made, when C was returned.
/// - Waiting calls are served in order, by a returned or a new connection, whichever comes first.
///   There are never fewer connection attempts than waiting calls unless `maxConnections` forbids
///   them.
/// - The failure of a connection attempt fails the longest waiting call, unless the remaining
///   attempts are enough for all.
struct PoolStateMachine<Waiter> {
    typealias Ticket = WaitQueue<Waiter>.Ticket

    /// The result of a checkout.
    enum Checkout {
        /// Use this connection, which was idle.
        case lease(ConnectionID)
        /// Wait with this ticket; if `connect` is not nil, make that connection.
        case wait(Ticket, connect: ConnectionID?)
        /// The pool is closed.
        case refuse
    }

    /// The result of any other event.
    enum Action {
        case nothing
        /// Use this connection for the waiter, which left the queue.
        case serve(Waiter, on: ConnectionID)
        /// Make this new connection.
        case connect(ConnectionID)
        /// Cancel making this connection.
        case giveUp(ConnectionID)
        /// Close this connection, which was returned or idle.
        case retire(ConnectionID)
        /// Fail the waiter, which left the queue; if `connect` is not nil, make that connection for
        /// the next waiter.
        case fail(Waiter, ClientFailure, connect: ConnectionID?)
    }

    private enum State {
        case connecting
        case idle(since: Instant)
        case leased
    }

    private enum Mode {
        case open
        /// Serves calls, but keeps no idle connection.
        case draining
        /// Serves the calls that wait already, and no others.
        case closed
    }

    private let maxIdle: Int
    private let maxConnections: Int
    private let idleTimeout: Duration

    private var connections = SlotTable<State>()
    private var idleConnections = SlotList()
    private var connectAttempts = SlotList()
    private var waiters = WaitQueue<Waiter>()
    private var mode = Mode.open

    init(maxIdle: Int, maxConnections: Int?, idleTimeout: Duration) {
        self.maxIdle = maxIdle
        self.maxConnections = max(1, maxConnections ?? .max)
        self.idleTimeout = idleTimeout
    }

    /// Idle connections.
    var idle: Int { idleConnections.count }
    /// Connections being made.
    var connecting: Int { connectAttempts.count }
    /// Leased connections.
    var leased: Int { connections.count - idleConnections.count - connectAttempts.count }
    /// Calls that wait for a connection.
    var waiting: Int { waiters.count }
    /// Whether there is neither a connection nor a waiting call.
    var isEmpty: Bool { connections.count == 0 && waiters.count == 0 }

    // MARK: Leasing

    /// A call needs a connection.
    mutating func checkout(_ waiter: Waiter) -> Checkout {
        if mode == .closed { return .refuse }
        if let slot = idleConnections.newest {
            connections.leave(slot, &idleConnections)
            connections[slot] = .leased
            return .lease(ConnectionID(slot: slot))
        }
        let ticket = waiters.join(waiter)
        return .wait(ticket, connect: startConnectIfNeeded())
    }

    /// A waiting call was cancelled. A connection attempt that is not needed any more is cancelled
    /// too.
    mutating func cancelWaiter(_ ticket: Ticket) -> Action {
        waiters.leave(ticket)
        return removeSurplusConnectAttempt().map(Action.giveUp) ?? .nothing
    }

    /// A leased connection can be used again.
    mutating func returnConnection(_ id: ConnectionID, at now: Instant) -> Action {
        guard case .leased = connections[id.slot] else { return .nothing }
        if let waiter = waiters.takeFirst() { return .serve(waiter, on: id) }
        return makeIdle(id, at: now)
    }

    // MARK: Connection attempts

    /// A connection attempt succeeded.
    mutating func completeConnect(_ id: ConnectionID, at now: Instant) -> Action {
        guard case .connecting = connections[id.slot] else { return .nothing }
        connections.leave(id.slot, &connectAttempts)
        connections[id.slot] = .leased
        return returnConnection(id, at: now)
    }

    /// A connection attempt failed.
    mutating func failConnect(_ id: ConnectionID, because failure: ClientFailure) -> Action {
        guard case .connecting = connections[id.slot] else { return .nothing }
        connections.leave(id.slot, &connectAttempts)
        connections.remove(id.slot)
        guard waiters.count > connectAttempts.count, let waiter = waiters.takeFirst() else {
            return .nothing
        }
        return .fail(waiter, failure, connect: startConnectIfNeeded())
    }

    // MARK: Closed connections

    /// A connection, leased or idle, is closed.
    mutating func removeConnection(_ id: ConnectionID) -> Action {
        switch connections[id.slot] {
        case .leased: break
        case .idle: connections.leave(id.slot, &idleConnections)
        case .connecting, nil: return .nothing
        }
        connections.remove(id.slot)
        return startConnectIfNeeded().map(Action.connect) ?? .nothing
    }

    /// When the longest idle connection expires; nil without idle connections.
    var nextExpiry: Instant? {
        guard let slot = idleConnections.oldest, case .idle(let since) = connections[slot] else {
            return nil
        }
        return since + idleTimeout
    }

    /// Removes one expired connection, which the caller closes; nil if there is none.
    mutating func expire(at now: Instant) -> ConnectionID? {
        guard let due = nextExpiry, due <= now else { return nil }
        return removeOldestIdle()
    }

    // MARK: The end

    /// From now on no idle connection is kept: no plan uses this pool any more.
    mutating func drain() {
        if mode == .open { mode = .draining }
    }

    /// From now on no idle connection is kept and no new call is accepted.
    mutating func close() {
        mode = .closed
    }

    /// After `drain` or `close`: removes one connection that is not needed, which the caller
    /// closes, or cancels if it is being made; nil if there is none.
    mutating func removeUnneeded() -> ConnectionID? {
        guard mode != .open else { return nil }
        return removeOldestIdle() ?? removeSurplusConnectAttempt()
    }

    // MARK: Helpers

    /// Makes a leased connection idle; closes the oldest idle one at `maxIdle`.
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

    private mutating func startConnectIfNeeded() -> ConnectionID? {
        guard waiters.count > connectAttempts.count, connections.count < maxConnections else {
            return nil
        }
        let slot = connections.insert(.connecting)
        connections.join(slot, &connectAttempts)
        return ConnectionID(slot: slot)
    }

    /// Removes the newest connection attempt if there are more of them than waiters.
    private mutating func removeSurplusConnectAttempt() -> ConnectionID? {
        guard connectAttempts.count > waiters.count, let slot = connectAttempts.newest else {
            return nil
        }
        connections.leave(slot, &connectAttempts)
        connections.remove(slot)
        return ConnectionID(slot: slot)
    }
}

extension PoolStateMachine.Checkout: Equatable {}
extension PoolStateMachine.Action: Equatable where Waiter: Equatable {}

/// Identifies one connection of a pool, or the attempt to make it, while it exists.
struct ConnectionID: Hashable {
    let slot: Int
}
