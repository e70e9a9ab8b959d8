import Basics
import Reactor
import Testing

@testable import HTTPClient

/// The decisions of a pool whose connections serve several calls at once.
@Suite struct PoolCapacityTests {
    typealias Machine = PoolStateMachine<String>

    private let start = Instant(nanoseconds: 0)
    private let refused = ClientFailure.connect(.connectionRefused)

    /// A pool that expects connections of this capacity.
    private func machine(_ capacity: Int, max: Int = 4, maxIdle: Int = 64) -> Machine {
        var pool = Machine(maxIdle: maxIdle, maxConnections: max, idleTimeout: .seconds(60))
        pool.expect(capacity: capacity, maxConnections: max)
        return pool
    }

    private func id(_ number: Int) -> ConnectionID { ConnectionID(slot: number) }

    /// A pool with one connection, which serves these calls.
    private func machine(serving calls: Int, of capacity: Int, max: Int = 4) -> Machine {
        var pool = machine(capacity, max: max)
        for _ in 0..<calls { _ = pool.checkout("x") }
        _ = pool.completeConnect(id(0), capacity: capacity, at: start)
        while case .serve = pool.serveNext(on: id(0)) {}
        return pool
    }

    private func attempt(_ checkout: Machine.Checkout) -> ConnectionID? {
        guard case .wait(_, let connect) = checkout else { return nil }
        return connect
    }

    @Test func oneAttemptServesAsManyCallsAsExpected() {
        var pool = machine(3)
        #expect(attempt(pool.checkout("a")) == id(0))
        #expect(attempt(pool.checkout("b")) == nil && attempt(pool.checkout("c")) == nil)
        #expect(attempt(pool.checkout("d")) == id(1))
        #expect(pool.completeConnect(id(0), capacity: 3, at: start) == .serve("a", on: id(0)))
        #expect(pool.serveNext(on: id(0)) == .serve("b", on: id(0)))
        #expect(pool.serveNext(on: id(0)) == .serve("c", on: id(0)))
        #expect(pool.serveNext(on: id(0)) == .nothing)
        #expect(pool.calls == 3 && pool.leased == 1 && pool.waiting == 1)
    }

    /// The backend allows fewer calls than expected: the others need connections.
    @Test func smallerCapacityNeedsMoreConnections() {
        var pool = machine(3)
        for name in ["a", "b", "c"] { _ = pool.checkout(name) }
        #expect(pool.completeConnect(id(0), capacity: 1, at: start) == .serve("a", on: id(0)))
        #expect(pool.serveNext(on: id(0)) == .nothing)
        pool.expect(capacity: 1, maxConnections: 4)
        #expect(pool.connectNext() == id(1) && pool.connectNext() == id(2))
        #expect(pool.connectNext() == nil)
    }

    @Test func isFullWhileCallsUseAllThatIsAllowed() {
        #expect(!machine(2, max: 1).isFull)
        #expect(!machine(serving: 1, of: 2, max: 1).isFull)
        #expect(!machine(serving: 2, of: 2, max: 2).isFull)
        var pool = machine(serving: 2, of: 2, max: 1)
        #expect(pool.isFull)
        _ = pool.returnConnection(id(0), at: start)
        #expect(!pool.isFull)
    }

    /// A connection that is made, or that takes no further call, leaves room for another.
    @Test func isNotFullBesideAConnectionAttemptOrAClosedConnection() {
        var pool = machine(1, max: 1)
        _ = pool.checkout("a")
        #expect(!pool.isFull)
        _ = pool.completeConnect(id(0), capacity: 1, at: start)
        #expect(pool.isFull)
        _ = pool.setCapacity(id(0), 0, at: start)
        #expect(!pool.isFull)
    }

    @Test func leasesAUsedConnectionBeforeAnIdleOne() {
        var pool = machine(serving: 2, of: 1)
        _ = pool.completeConnect(id(1), capacity: 2, at: start)
        #expect(pool.returnConnection(id(0), at: start) == .nothing)
        #expect(pool.idle == 1 && pool.leased == 1)
        #expect(pool.checkout("a") == .lease(id(1)))
        // It is full now.
        #expect(pool.checkout("b") == .lease(id(0)))
    }

    @Test func connectionIsIdleWithoutCalls() {
        var pool = machine(serving: 3, of: 3)
        #expect(attempt(pool.checkout("d")) == id(1), "it is full")
        #expect(pool.returnConnection(id(0), at: start) == .serve("d", on: id(0)))
        for _ in 0..<2 { #expect(pool.returnConnection(id(0), at: start) == .nothing) }
        #expect(pool.idle == 0 && pool.calls == 1)
        #expect(pool.returnConnection(id(0), at: start) == .nothing)
        #expect(pool.idle == 1 && pool.calls == 0 && pool.leased == 0)
        #expect(pool.expire(at: start + .seconds(60)) == id(0))
    }

    @Test func connectionWithoutCapacityGetsNoCall() {
        var pool = machine(serving: 1, of: 3)
        #expect(pool.setCapacity(id(0), 0, at: start) == .nothing)
        #expect(attempt(pool.checkout("a")) == id(1))
        #expect(pool.returnConnection(id(0), at: start) == .nothing)
        #expect(pool.idle == 0 && pool.leased == 1, "it neither serves nor expires")
        #expect(pool.nextExpiry == nil)
        // It serves waiting calls when it has capacity again.
        #expect(pool.setCapacity(id(0), 3, at: start) == .serve("a", on: id(0)))
    }

    @Test func idleConnectionMayLoseItsCapacity() {
        var pool = machine(serving: 1, of: 3)
        _ = pool.returnConnection(id(0), at: start)
        #expect(pool.setCapacity(id(0), 0, at: start) == .nothing && pool.idle == 0)
        #expect(attempt(pool.checkout("a")) == id(1))
        #expect(pool.removeConnection(id(0)) == .nothing)
        #expect(pool.leased == 0 && pool.connecting == 1)
    }

    /// A connection that will end does not count for the limit, so that its calls delay no others.
    @Test func connectionWithoutCapacityLeavesRoom() {
        var pool = machine(serving: 2, of: 2, max: 1)
        #expect(attempt(pool.checkout("a")) == nil)
        #expect(pool.setCapacity(id(0), 0, at: start) == .nothing)
        #expect(pool.connectNext() == id(1))
        #expect(pool.connectNext() == nil)
    }

    @Test func removedConnectionTakesItsCalls() {
        var pool = machine(serving: 2, of: 3)
        #expect(pool.removeConnection(id(0)) == .nothing)
        #expect(pool.calls == 0 && pool.isEmpty)
    }

    /// As many calls as the attempt was expected to serve.
    @Test func failedAttemptFailsItsCalls() {
        var pool = machine(2)
        for name in ["a", "b", "c"] { _ = pool.checkout(name) }
        #expect(
            pool.failConnect(id(0), because: refused) == .fail(["a"], refused, connect: nil),
            "the other attempt is enough for two")
        #expect(
            pool.failConnect(id(1), because: refused) == .fail(["b", "c"], refused, connect: nil))
        #expect(pool.isEmpty)
    }

    @Test func pausedPoolMakesNoConnection() {
        var pool = machine(1)
        pool.allowConnecting(false)
        #expect(pool.checkout("a") == .refuse, "nothing could serve it")
        pool.allowConnecting(true)
        #expect(attempt(pool.checkout("b")) == id(0))
        _ = pool.completeConnect(id(0), at: start)
        pool.allowConnecting(false)
        #expect(attempt(pool.checkout("c")) == nil && pool.waiting == 1)
        #expect(pool.returnConnection(id(0), at: start) == .serve("c", on: id(0)))
    }

    @Test func surplusAttemptsEnd() {
        var pool = machine(1, max: 10)
        for name in ["a", "b", "c"] { _ = pool.checkout(name) }
        #expect(pool.removeSurplus() == nil)
        pool.expect(capacity: 100, maxConnections: 4)
        _ = pool.completeConnect(id(0), capacity: 100, at: start)
        while case .serve = pool.serveNext(on: id(0)) {}
        #expect(pool.removeSurplus() == id(2) && pool.removeSurplus() == id(1))
        #expect(pool.removeSurplus() == nil && pool.connecting == 0)
    }

    // MARK: Random runs

    /// Random events never break what the pool promises.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func keepsItsRules(seed: UInt64) {
        var run = RandomCapacityRun(seed: seed)
        for _ in 0..<2000 { run.step() }
        run.finish()
        #expect(run.violation == nil)
    }
}

/// A random sequence of events on a pool with capacities, compared with a simple model.
private struct RandomCapacityRun {
    private var machine: PoolStateMachine<Int>
    private let chance: Entropy
    private var now = Instant(nanoseconds: 0)
    private var queue: [(call: Int, ticket: PoolStateMachine<Int>.Ticket)] = []
    private var attempts: [ConnectionID] = []
    /// Calls and capacity of each connection.
    private var open: [ConnectionID: (calls: Int, capacity: Int)] = [:]
    private var callCount = 0
    private static let expected = 4
    private static let max = 3
    private(set) var violation: String?

    init(seed: UInt64) {
        machine = PoolStateMachine(
            maxIdle: 64, maxConnections: Self.max, idleTimeout: .seconds(5))
        machine.expect(capacity: Self.expected, maxConnections: Self.max)
        chance = Entropy(seed: seed)
    }

    mutating func step() {
        now = now + .milliseconds(chance.below(200))
        switch chance.below(9) {
        case 0, 1, 2: checkout()
        case 3, 4:
            guard
                let id = open.keys.sorted(by: { $0.slot < $1.slot })
                    .filter({ open[$0]?.calls ?? 0 > 0 }).randomElement(chance)
            else { break }
            open[id]?.calls -= 1
            perform(machine.returnConnection(id, at: now))
        case 5:
            guard let id = attempts.randomElement(chance) else { break }
            attempts.removeAll { $0 == id }
            let capacity = 1 + chance.below(6)
            open[id] = (0, capacity)
            perform(machine.completeConnect(id, capacity: capacity, at: now))
            serveAll(on: id)
        case 6:
            guard let id = attempts.randomElement(chance) else { break }
            attempts.removeAll { $0 == id }
            perform(machine.failConnect(id, because: .connect(.connectionRefused)))
        case 7:
            guard let id = open.keys.sorted(by: { $0.slot < $1.slot }).randomElement(chance)
            else { break }
            let capacity = chance.below(6)
            open[id]?.capacity = capacity
            perform(machine.setCapacity(id, capacity, at: now))
            serveAll(on: id)
        default: removeOrExpire()
        }
        check()
    }

    private mutating func serveAll(on id: ConnectionID) {
        while case .serve(let call, let id) = machine.serveNext(on: id) {
            perform(.serve(call, on: id))
        }
        while let id = machine.connectNext() { attempts.append(id) }
    }

    private mutating func removeOrExpire() {
        if chance.chance(oneIn: 2) {
            if let id = machine.expire(at: now) { close(id) }
        } else if let id = open.keys.sorted(by: { $0.slot < $1.slot }).randomElement(chance) {
            open[id] = nil
            perform(machine.removeConnection(id))
            while let id = machine.connectNext() { attempts.append(id) }
        }
    }

    private mutating func close(_ id: ConnectionID) {
        if open[id]?.calls != 0 { violation = violation ?? "closes a connection in use" }
        open[id] = nil
    }

    private mutating func checkout() {
        callCount += 1
        switch machine.checkout(callCount) {
        case .lease(let id):
            guard let use = open[id], use.calls < use.capacity else {
                violation = violation ?? "leases a full connection"
                return
            }
            open[id]?.calls += 1
        case .wait(let ticket, let connect):
            if open.values.contains(where: { $0.calls < $0.capacity }) {
                violation = violation ?? "waits beside free capacity"
            }
            queue.append((callCount, ticket))
            if let connect { attempts.append(connect) }
        case .refuse: violation = violation ?? "refuses"
        }
    }

    private mutating func perform(_ action: PoolStateMachine<Int>.Action) {
        switch action {
        case .nothing: break
        case .serve(let call, let id):
            if queue.isEmpty || queue.removeFirst().call != call {
                violation = violation ?? "not the first in the queue"
            }
            open[id]?.calls += 1
            if let use = open[id], use.calls > use.capacity {
                violation = violation ?? "serves on a full connection"
            }
        case .connect(let id): attempts.append(id)
        case .giveUp(let id): attempts.removeAll { $0 == id }
        case .retire(let id): close(id)
        case .fail(let calls, _, let connect):
            for call in calls where queue.isEmpty || queue.removeFirst().call != call {
                violation = violation ?? "not the first in the queue"
            }
            if let connect { attempts.append(connect) }
        }
    }

    private mutating func check() {
        let calls = open.values.reduce(0) { $0 + $1.calls }
        let idle = open.values.count { $0.calls == 0 && $0.capacity > 0 }
        let expected = (calls, idle, open.count - idle, attempts.count, queue.count)
        let found = (
            machine.calls, machine.idle, machine.leased, machine.connecting, machine.waiting
        )
        if expected != found { violation = violation ?? "counts \(found), not \(expected)" }
        let counted = open.values.count { $0.capacity > 0 } + attempts.count
        if attempts.isEmpty, !queue.isEmpty, counted < Self.max {
            violation = violation ?? "waits without an attempt"
        }
    }

    /// Ends all calls; nothing may remain.
    mutating func finish() {
        machine.close()
        while let id = machine.removeUnneeded() {
            open[id] = nil
            attempts.removeAll { $0 == id }
        }
        for _ in 0..<100_000 where !machine.isEmpty && violation == nil {
            if let id = attempts.first {
                attempts.removeFirst()
                open[id] = (0, 2)
                perform(machine.completeConnect(id, capacity: 2, at: now))
                serveAll(on: id)
            } else if let id = open.keys.first(where: { open[$0]?.calls ?? 0 > 0 }) {
                open[id]?.calls -= 1
                perform(machine.returnConnection(id, at: now))
            } else if let id = open.keys.first {
                open[id] = nil
                perform(machine.removeConnection(id))
                while let id = machine.connectNext() { attempts.append(id) }
            }
        }
        if !machine.isEmpty { violation = violation ?? "not empty" }
    }
}

extension Collection {
    fileprivate func randomElement(_ chance: Entropy) -> Element? {
        isEmpty ? nil : self[index(startIndex, offsetBy: chance.below(count))]
    }
}
