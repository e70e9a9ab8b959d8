import Basics

/// The decisions of a pool: which connections exist, which call may use which, and which calls
/// wait.
///
/// Events in, actions out: it uses no stream, clock or promise, and `Pool` performs its actions.
/// Every event takes constant time and allocates nothing in the steady state.
///
/// Each connection has a capacity: 1 for HTTP/1.1, the number of streams for HTTP/2. A connection
/// is idle while no call uses it. One without capacity gets no call: it is being tested, or will end
/// when its calls have ended.
///
/// Three rules:
/// - The most recently used connection is leased first, and a connection that was idle for
///   `idleTimeout` is closed. So the pool keeps only as many connections as were in use at once
///   within the last `idleTimeout`. `maxIdle` bounds the memory.
///   Proof: let C be the connection that has been idle the longest. While C is idle, no call needs
///   a new connection, and no connection that became idle before C is leased, because C, used more
///   recently, would be leased before it. So every other open connection was in use, or being made, when C was returned.
///   A connection with free capacity that is in use precedes the idle ones, so this holds for calls
///   that share connections, too.
/// - Waiting calls are served in order, by a returned or a new connection, whichever comes first.
///   The connection attempts are expected to serve all waiting calls, unless `maxConnections`
///   forbids more of them.
/// - The failure of a connection attempt fails the longest waiting calls, as many as it was expected
///   to serve, unless the remaining attempts are enough for all.
struct PoolStateMachine<Waiter> {
    typealias Ticket = WaitQueue<Waiter>.Ticket

    /// The result of a checkout.
    enum Checkout {
        /// Use this connection, which has room for a call.
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
        /// Fail the waiters, which left the queue; if `connect` is not nil, make that connection for
        /// the next waiter.
        case fail([Waiter], ClientFailure, connect: ConnectionID?)
    }

    private enum State {
        /// The number of calls that it is expected to serve at once.
        case connecting(expected: Int)
        case idle(since: Instant, capacity: Int)
        /// In use, or without capacity.
        case leased(calls: Int, capacity: Int)
    }

    private enum Mode {
        case open
        /// Serves calls, but keeps no idle connection.
        case draining
        /// Serves the calls that wait already, and no others.
        case closed
    }

    private let maxIdle: Int
    /// Connections with a capacity, open at once.
    private var maxConnections: Int
    private let idleTimeout: Duration

    private var connections = SlotTable<State>()
    private var idleConnections = SlotList()
    /// In use, with free capacity.
    private var sharedConnections = SlotList()
    private var connectAttempts = SlotList()
    /// The calls that the attempts are expected to serve.
    private var expectedCalls = 0
    /// The calls that one more connection is expected to serve at once.
    private var expectedCapacity = 1
    /// Connections without capacity.
    private var closedToCalls = 0
    /// Connections without capacity and without a call.
    private var unusedConnections = SlotList()
    /// Calls that have a connection.
    private(set) var calls = 0
    /// No connection is made until it is true again.
    private var mayConnect = true
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
    /// Whether a further call would wait for the end of another: all connections are in use to their
    /// capacity, and no more are allowed.
    var isFull: Bool {
        sharedConnections.newest == nil && idleConnections.newest == nil
            && connectAttempts.count == 0 && connections.count - closedToCalls >= maxConnections
    }

    /// Whether the counts agree with the lists. For assertions, in constant time.
    private var isConsistent: Bool {
        let unused = unusedConnections.count
        return calls >= leased - unused && calls >= sharedConnections.count
            && leased >= sharedConnections.count + unused && closedToCalls >= unused
            && leased >= closedToCalls && expectedCalls >= connecting
            && (connecting > 0 || expectedCalls == 0)
            // No call waits beside an idle connection.
            && idle <= maxIdle && (idle == 0 || waiting == 0)
    }

    // MARK: Leasing

    /// A call needs a connection.
    mutating func checkout(_ waiter: Waiter) -> Checkout {
        defer { assert(isConsistent, "the counts disagree after a checkout") }
        if mode == .closed { return .refuse }
        if let slot = sharedConnections.newest ?? idleConnections.newest {
            addCall(to: slot)
            return .lease(ConnectionID(slot: slot))
        }
        // It could wait for nothing but the end of the pause.
        if !mayConnect, connections.count == 0 { return .refuse }
        let ticket = waiters.join(waiter)
        return .wait(ticket, connect: startConnectIfNeeded())
    }

    /// A waiting call was cancelled. A connection attempt that is not needed any more is cancelled
    /// too.
    mutating func cancelWaiter(_ ticket: Ticket) -> Action {
        defer { assert(isConsistent, "the counts disagree after a cancellation") }
        waiters.leave(ticket)
        return removeSurplusConnectAttempt().map(Action.giveUp) ?? .nothing
    }

    /// A call on a leased connection has ended, so that it can be used again.
    mutating func returnConnection(_ id: ConnectionID, at now: Instant) -> Action {
        guard case .leased(let running, let capacity) = connections[id.slot], running > 0 else {
            return .nothing
        }
        defer { assert(isConsistent, "the counts disagree after a return") }
        if running <= capacity, let waiter = waiters.takeFirst() { return .serve(waiter, on: id) }
        calls -= 1
        return setUse(of: id, calls: running - 1, capacity, at: now)
    }

    /// The number of calls that a connection serves at once has changed; 0 if it gets no call. The
    /// caller repeats `serveNext`.
    mutating func setCapacity(_ id: ConnectionID, _ capacity: Int, at now: Instant) -> Action {
        assert(capacity >= 0, "a negative capacity")
        defer { assert(isConsistent, "the counts disagree after a change of the capacity") }
        switch connections[id.slot] {
        case .connecting, nil: return .nothing
        case .idle(let since, let former):
            guard capacity != former else { return .nothing }
            guard capacity == 0 else {
                connections[id.slot] = .idle(since: since, capacity: capacity)
                return .nothing
            }
            connections.leave(id.slot, &idleConnections)
            connections[id.slot] = .leased(calls: 0, capacity: 0)
            connections.join(id.slot, &unusedConnections)
            closedToCalls += 1
            return .nothing
        case .leased(let running, let former):
            guard capacity != former else { return .nothing }
            if former == 0 { closedToCalls -= 1 }
            if capacity == 0 { closedToCalls += 1 }
            if running < capacity, let waiter = waiters.takeFirst() {
                calls += 1
                replaceUse(of: id.slot, running, former, by: running + 1, capacity)
                return .serve(waiter, on: id)
            }
            return setUse(of: id, calls: running, formerCapacity: former, capacity, at: now)
        }
    }

    /// Serves the longest waiting call on a connection with free capacity.
    mutating func serveNext(on id: ConnectionID) -> Action {
        let isFree =
            switch connections[id.slot] {
            case .idle: true
            case .leased(let running, let capacity): running < capacity
            case .connecting, nil: false
            }
        guard isFree, let waiter = waiters.takeFirst() else { return .nothing }
        addCall(to: id.slot)
        assert(isConsistent, "the counts disagree after a waiter was served")
        return .serve(waiter, on: id)
    }

    // MARK: Connection attempts

    /// A connection attempt succeeded. With a capacity above 1, the caller repeats `serveNext`.
    mutating func completeConnect(
        _ id: ConnectionID, capacity: Int = 1, at now: Instant
    ) -> Action {
        guard case .connecting(let expected) = connections[id.slot] else { return .nothing }
        assert(capacity > 0, "a new connection without capacity")
        connections.leave(id.slot, &connectAttempts)
        expectedCalls -= expected
        connections[id.slot] = .leased(calls: 1, capacity: capacity)
        calls += 1
        if capacity > 1 { connections.join(id.slot, &sharedConnections) }
        return returnConnection(id, at: now)
    }

    /// A connection attempt failed.
    mutating func failConnect(_ id: ConnectionID, because failure: ClientFailure) -> Action {
        guard case .connecting(let expected) = connections[id.slot] else { return .nothing }
        connections.leave(id.slot, &connectAttempts)
        expectedCalls -= expected
        connections.remove(id.slot)
        defer { assert(isConsistent, "the counts disagree after a failed attempt") }
        var failed: [Waiter] = []
        while failed.count < expected, waiters.count > expectedCalls,
            let waiter = waiters.takeFirst()
        {
            failed.append(waiter)
        }
        if failed.isEmpty { return .nothing }
        return .fail(failed, failure, connect: startConnectIfNeeded())
    }

    /// One more connection is expected to serve that many calls at once, and at most that many
    /// connections are open. The caller repeats `connectNext` and `removeSurplus`.
    mutating func expect(capacity: Int, maxConnections: Int?) {
        expectedCapacity = max(1, capacity)
        self.maxConnections = max(1, maxConnections ?? .max)
    }

    /// No connection is made, until the caller allows it again and repeats `connectNext`.
    mutating func allowConnecting(_ isAllowed: Bool) { mayConnect = isAllowed }

    /// Starts one connection attempt that the waiting calls need.
    mutating func connectNext() -> ConnectionID? { startConnectIfNeeded() }

    /// Removes one connection attempt that no waiting call needs, which the caller cancels.
    mutating func removeSurplus() -> ConnectionID? { removeSurplusConnectAttempt() }

    // MARK: Closed connections

    /// A connection, leased or idle, is closed.
    mutating func removeConnection(_ id: ConnectionID) -> Action {
        defer { assert(isConsistent, "the counts disagree after a removal") }
        switch connections[id.slot] {
        case .leased(let running, let capacity):
            calls -= running
            if capacity == 0 { closedToCalls -= 1 }
            if Self.isUnused(running, capacity) { connections.leave(id.slot, &unusedConnections) }
            if Self.isShared(running, capacity) { connections.leave(id.slot, &sharedConnections) }
        case .idle: connections.leave(id.slot, &idleConnections)
        case .connecting, nil: return .nothing
        }
        connections.remove(id.slot)
        return startConnectIfNeeded().map(Action.connect) ?? .nothing
    }

    /// When the longest idle connection expires; nil without idle connections.
    var nextExpiry: Instant? {
        guard let slot = idleConnections.oldest, case .idle(let since, _) = connections[slot]
        else { return nil }
        return since + idleTimeout
    }

    /// Removes one expired connection, which the caller closes; nil if there is none.
    mutating func expire(at now: Instant) -> ConnectionID? {
        guard let due = nextExpiry, due <= now else { return nil }
        defer { assert(isConsistent, "the counts disagree after an expiry") }
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
        defer { assert(isConsistent, "the counts disagree after the end") }
        return removeOldestIdle() ?? removeUnused() ?? removeSurplusConnectAttempt()
    }

    /// Removes one connection that is being tested and has no call.
    private mutating func removeUnused() -> ConnectionID? {
        guard let slot = unusedConnections.oldest else { return nil }
        connections.leave(slot, &unusedConnections)
        connections.remove(slot)
        closedToCalls -= 1
        return ConnectionID(slot: slot)
    }

    // MARK: Helpers

    private static func isShared(_ calls: Int, _ capacity: Int) -> Bool {
        calls > 0 && calls < capacity
    }

    private static func isUnused(_ calls: Int, _ capacity: Int) -> Bool {
        calls == 0 && capacity == 0
    }

    /// A connection with free capacity gets a call.
    private mutating func addCall(to slot: Int) {
        calls += 1
        switch connections[slot] {
        case .idle(_, let capacity):
            connections.leave(slot, &idleConnections)
            connections[slot] = .leased(calls: 1, capacity: capacity)
            if capacity > 1 { connections.join(slot, &sharedConnections) }
        case .leased(let running, let capacity):
            assert(running < capacity, "a call on a connection without room")
            replaceUse(of: slot, running, capacity, by: running + 1, capacity)
        case .connecting, nil: break
        }
    }

    /// A leased connection has that many calls and that capacity: makes it idle if it has none and
    /// can serve others.
    ///
    /// - Parameter formerCapacity: nil if it is the same; then it had one call more
    private mutating func setUse(
        of id: ConnectionID, calls running: Int, formerCapacity: Int? = nil, _ capacity: Int,
        at now: Instant
    ) -> Action {
        let formerCalls = formerCapacity == nil ? running + 1 : running
        replaceUse(of: id.slot, formerCalls, formerCapacity ?? capacity, by: running, capacity)
        guard running == 0 else { return .nothing }
        if capacity > 0 { return makeIdle(id, capacity, at: now) }
        return mode == .open ? .nothing : removeUnused().map(Action.retire) ?? .nothing
    }

    private mutating func replaceUse(
        of slot: Int, _ formerCalls: Int, _ formerCapacity: Int, by running: Int, _ capacity: Int
    ) {
        connections[slot] = .leased(calls: running, capacity: capacity)
        let wasShared = Self.isShared(formerCalls, formerCapacity)
        let isShared = Self.isShared(running, capacity)
        let wasUnused = Self.isUnused(formerCalls, formerCapacity)
        let isUnused = Self.isUnused(running, capacity)
        // It is in one list at a time.
        if wasShared, !isShared { connections.leave(slot, &sharedConnections) }
        if wasUnused, !isUnused { connections.leave(slot, &unusedConnections) }
        if isShared, !wasShared { connections.join(slot, &sharedConnections) }
        if isUnused, !wasUnused { connections.join(slot, &unusedConnections) }
    }

    /// Makes a leased connection idle; closes the oldest idle one at `maxIdle`.
    private mutating func makeIdle(
        _ id: ConnectionID, _ capacity: Int, at now: Instant
    ) -> Action {
        guard mode == .open, maxIdle > 0 else {
            connections.remove(id.slot)
            return .retire(id)
        }
        let retired = idleConnections.count < maxIdle ? nil : removeOldestIdle()
        connections[id.slot] = .idle(since: now, capacity: capacity)
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
        guard waiters.count > expectedCalls, mayConnect,
            connections.count - closedToCalls < maxConnections
        else { return nil }
        let slot = connections.insert(.connecting(expected: expectedCapacity))
        connections.join(slot, &connectAttempts)
        expectedCalls += expectedCapacity
        return ConnectionID(slot: slot)
    }

    /// Removes the newest connection attempt if the others are enough for all waiters.
    private mutating func removeSurplusConnectAttempt() -> ConnectionID? {
        guard let slot = connectAttempts.newest, case .connecting(let expected) = connections[slot],
            expectedCalls - expected >= waiters.count
        else { return nil }
        expectedCalls -= expected
        connections.leave(slot, &connectAttempts)
        connections.remove(slot)
        return ConnectionID(slot: slot)
    }
}

extension PoolStateMachine.Checkout: Equatable {}
extension PoolStateMachine.Action: Equatable where Waiter: Equatable {}
