import Basics
import Reactor
import Testing

@testable import HTTPClient

/// The decisions of a pool, as a plain value. Connections are numbered in the order of being made,
/// waiters are named.
@Suite struct PoolStateMachineTests {
    typealias Machine = PoolStateMachine<String>

    private let start = Instant(nanoseconds: 0)
    private let refused = ClientFailure.connect(.connectionRefused)

    private func machine(maxIdle: Int = 64, max: Int? = nil) -> Machine {
        Machine(maxIdle: maxIdle, maxConnections: max, idleTimeout: .seconds(60))
    }

    private func id(_ number: Int) -> ConnectionID { ConnectionID(slot: number) }

    /// A pool with that many connections, idle since second 0, 1, 2...
    private func machine(idle: Int, maxIdle: Int = 64, max: Int? = nil) -> Machine {
        var pool = machine(maxIdle: maxIdle, max: max)
        for _ in 0..<idle { _ = pool.checkout("x") }
        for number in 0..<idle { _ = pool.completeConnect(id(number), at: start) }
        for number in 0..<idle {
            _ = pool.returnConnection(id(number), at: start + .seconds(number))
        }
        return pool
    }

    /// The connection attempt that a waiting checkout starts, if any.
    private func attempt(_ checkout: Machine.Checkout) -> ConnectionID? {
        guard case .wait(_, let connect) = checkout else { return nil }
        return connect
    }

    private func ticket(_ checkout: Machine.Checkout) throws -> Machine.Ticket {
        guard case .wait(let ticket, _) = checkout else { throw NoTicket() }
        return ticket
    }

    private struct NoTicket: Error {}

    // MARK: Lending

    @Test func firstCallWaitsForANewConnection() {
        var pool = machine()
        #expect(attempt(pool.checkout("a")) == id(0))
        #expect(pool.completeConnect(id(0), at: start) == .serve("a", on: id(0)))
        #expect(pool.leased == 1 && pool.waiting == 0)
    }

    @Test func leasesTheMostRecentlyUsedConnectionFirst() {
        var pool = machine(idle: 3)
        #expect(pool.checkout("a") == .lease(id(2)))
        #expect(pool.checkout("b") == .lease(id(1)))
        #expect(pool.idle == 1 && pool.leased == 2)
    }

    @Test func returnedConnectionServesTheLongestWaitingCall() {
        var pool = machine(idle: 1)
        #expect(pool.checkout("a") == .lease(id(0)))
        #expect(attempt(pool.checkout("b")) == id(1))
        #expect(attempt(pool.checkout("c")) == id(2))
        #expect(pool.returnConnection(id(0), at: start) == .serve("b", on: id(0)))
        #expect(pool.returnConnection(id(0), at: start) == .serve("c", on: id(0)))
    }

    @Test func unneededAttemptBecomesIdleWhenItSucceeds() {
        var pool = machine(idle: 1)
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        _ = pool.returnConnection(id(0), at: start)
        #expect(pool.completeConnect(id(1), at: start) == .nothing)
        #expect(pool.idle == 1 && pool.leased == 1 && pool.connecting == 0)
    }

    @Test func callBeyondTheLimitWaitsWithoutANewConnection() {
        var pool = machine(max: 2)
        #expect(attempt(pool.checkout("a")) == id(0))
        #expect(attempt(pool.checkout("b")) == id(1))
        #expect(attempt(pool.checkout("c")) == nil)
        #expect(pool.waiting == 3 && pool.connecting == 2)
    }

    @Test func closedConnectionMakesRoomForAWaitingCall() {
        var pool = machine(idle: 1, max: 1)
        _ = pool.checkout("a")
        #expect(attempt(pool.checkout("b")) == nil)
        #expect(pool.removeConnection(id(0)) == .connect(id(0)))
        #expect(pool.completeConnect(id(0), at: start) == .serve("b", on: id(0)))
    }

    @Test func limitOfZeroMeansOne() {
        var pool = machine(max: 0)
        #expect(attempt(pool.checkout("a")) == id(0))
    }

    // MARK: Keeping

    @Test func closesTheOldestIdleConnectionAtMaxIdle() {
        var pool = machine(idle: 3, maxIdle: 3)
        _ = pool.checkout("a")
        #expect(attempt(pool.checkout("b")) == nil)
        _ = pool.checkout("c")
        #expect(attempt(pool.checkout("d")) == id(3))
        #expect(pool.completeConnect(id(3), at: start) == .serve("d", on: id(3)))
        #expect(pool.returnConnection(id(2), at: start) == .nothing)
        #expect(pool.returnConnection(id(3), at: start) == .nothing)
        #expect(pool.returnConnection(id(0), at: start) == .nothing)
        #expect(pool.returnConnection(id(1), at: start) == .retire(id(2)))
        #expect(pool.idle == 3 && pool.leased == 0)
    }

    @Test func closesEveryConnectionWithoutKeepAlive() {
        var pool = machine(maxIdle: 0)
        _ = pool.checkout("a")
        _ = pool.completeConnect(id(0), at: start)
        #expect(pool.returnConnection(id(0), at: start) == .retire(id(0)))
        #expect(pool.isEmpty)
    }

    @Test func idleConnectionsExpireOldestFirst() {
        var pool = machine(idle: 3)
        #expect(pool.nextExpiry == start + .seconds(60))
        #expect(pool.expire(at: start + .seconds(59)) == nil)
        #expect(pool.expire(at: start + .seconds(61)) == id(0))
        #expect(pool.expire(at: start + .seconds(61)) == id(1))
        #expect(pool.expire(at: start + .seconds(61)) == nil)
        #expect(pool.nextExpiry == start + .seconds(62) && pool.idle == 1)
    }

    @Test func keepsAsManyConnectionsAsWereInUseWithinIdleTimeout() {
        var pool = machine(idle: 3)
        for second in stride(from: 10, through: 60, by: 10) {
            #expect(pool.checkout("a") == .lease(id(2)), "the other two grow old")
            #expect(pool.returnConnection(id(2), at: start + .seconds(second)) == .nothing)
        }
        #expect(pool.expire(at: start + .seconds(61)) == id(0))
        #expect(pool.expire(at: start + .seconds(61)) == id(1))
        #expect(pool.expire(at: start + .seconds(61)) == nil)
        #expect(pool.idle == 1)
    }

    @Test func removesAnIdleConnectionThatTheBackendCloses() {
        var pool = machine(idle: 3)
        #expect(pool.removeConnection(id(1)) == .nothing)
        #expect(pool.checkout("a") == .lease(id(2)))
        #expect(pool.checkout("b") == .lease(id(0)))
        #expect(attempt(pool.checkout("c")) == id(1))
    }

    // MARK: Failing

    @Test func failedAttemptFailsTheLongestWaitingCall() {
        var pool = machine()
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        #expect(pool.failConnect(id(1), because: refused) == .fail(["a"], refused, connect: nil))
        #expect(pool.failConnect(id(0), because: refused) == .fail(["b"], refused, connect: nil))
        #expect(pool.isEmpty)
    }

    @Test func failedAttemptThatIsNotNeededFailsNoCall() {
        var pool = machine(idle: 1)
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        _ = pool.returnConnection(id(0), at: start)
        #expect(pool.failConnect(id(1), because: refused) == .nothing)
        #expect(pool.waiting == 0 && pool.connecting == 0)
    }

    @Test func failedAttemptStartsAnotherForTheNextCallAtTheLimit() {
        var pool = machine(max: 1)
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        #expect(pool.failConnect(id(0), because: refused) == .fail(["a"], refused, connect: id(0)))
        #expect(pool.failConnect(id(0), because: refused) == .fail(["b"], refused, connect: nil))
    }

    // MARK: Cancelling

    @Test func cancelledCallCancelsAnUnneededAttempt() throws {
        var pool = machine()
        let ticket = try ticket(pool.checkout("a"))
        #expect(pool.cancelWaiter(ticket) == .giveUp(id(0)))
        #expect(pool.isEmpty)
        #expect(pool.completeConnect(id(0), at: start) == .nothing, "too late to matter")
        #expect(pool.failConnect(id(0), because: refused) == .nothing)
    }

    @Test func cancelledCallKeepsTheOrderOfTheOthers() throws {
        var pool = machine(idle: 1, max: 1)
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        let ticket = try ticket(pool.checkout("c"))
        _ = pool.checkout("d")
        #expect(pool.cancelWaiter(ticket) == .nothing)
        #expect(pool.cancelWaiter(ticket) == .nothing, "a ticket is valid once")
        #expect(pool.returnConnection(id(0), at: start) == .serve("b", on: id(0)))
        #expect(pool.returnConnection(id(0), at: start) == .serve("d", on: id(0)))
        #expect(pool.returnConnection(id(0), at: start) == .nothing)
    }

    // MARK: The end

    @Test func closedPoolServesOnlyCallsThatWaited() {
        var pool = machine(idle: 2)
        _ = pool.checkout("a")
        _ = pool.checkout("b")
        _ = pool.checkout("c")
        pool.close()
        #expect(pool.checkout("d") == .refuse)
        #expect(pool.returnConnection(id(0), at: start) == .serve("c", on: id(0)))
        #expect(pool.removeUnneeded() == id(2))
        #expect(pool.removeUnneeded() == nil)
        #expect(pool.returnConnection(id(0), at: start) == .retire(id(0)))
        #expect(pool.returnConnection(id(1), at: start) == .retire(id(1)))
        #expect(pool.isEmpty)
    }

    @Test func drainingPoolServesCallsAndKeepsNoConnection() {
        var pool = machine(idle: 2)
        pool.drain()
        #expect(pool.removeUnneeded() == id(0))
        #expect(pool.removeUnneeded() == id(1))
        #expect(attempt(pool.checkout("a")) == id(1))
        #expect(pool.completeConnect(id(1), at: start) == .serve("a", on: id(1)))
        #expect(pool.returnConnection(id(1), at: start) == .retire(id(1)))
        #expect(pool.isEmpty)
    }

    @Test func openPoolRemovesNoConnection() {
        var pool = machine(idle: 1)
        #expect(pool.removeUnneeded() == nil)
        #expect(pool.idle == 1)
    }

    // MARK: All of it

    /// Checks the invariants after each of many random events.
    @Test(arguments: [UInt64](1...40))
    func keepsItsInvariantsUnderRandomEvents(seed: UInt64) {
        var run = RandomPoolRun(
            seed: seed, maxIdle: Int(seed % 4), max: seed % 3 == 0 ? nil : Int(seed % 5) + 1)
        for step in 0..<400 {
            run.step(step)
            #expect(run.violation == nil, "seed \(seed), step \(step)")
            if run.violation != nil { return }
        }
        run.finish()
        #expect(run.violation == nil, "seed \(seed), at the end")
    }
}
