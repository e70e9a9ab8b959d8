import Basics
import Reactor

@testable import HTTPClient

/// A random sequence of events on a pool, compared with the simplest possible model of it.
struct RandomPoolRun {
    private var machine: PoolStateMachine<Int>
    private let chance: Entropy
    private let maxIdle: Int
    private let max: Int

    private var now = Instant(nanoseconds: 0)
    private var callCount = 0
    private var queue: [(call: Int, ticket: PoolStateMachine<Int>.Ticket)] = []
    private var attempts: [ConnectionID] = []
    private var working: [ConnectionID] = []
    private var idle: [ConnectionID] = []
    /// The number of calls at different times: those that had a connection or waited for one.
    private var calls: [(at: Instant, count: Int)] = []
    private static let idleTimeout = Duration.seconds(5)

    /// The first violation of the model.
    private(set) var violation: String?

    init(seed: UInt64, maxIdle: Int, max: Int?) {
        machine = PoolStateMachine(
            maxIdle: maxIdle, maxConnections: max, idleTimeout: RandomPoolRun.idleTimeout)
        chance = Entropy(seed: seed)
        self.maxIdle = maxIdle
        self.max = max ?? .max
    }

    mutating func step(_ step: Int) {
        now = now + .milliseconds(chance.below(900))
        switch chance.below(8) {
        case 0, 1: checkout()
        case 2:
            if let id = working.takeAny(chance) {
                perform(machine.returnConnection(id, at: now), free: id)
            }
        case 3:
            if let id = attempts.takeAny(chance) {
                perform(machine.completeConnect(id, at: now), free: id)
            }
        case 4: if let id = attempts.takeAny(chance) { fail(id) }
        case 5:
            if let id = working.takeAny(chance) { perform(machine.removeConnection(id), free: nil) }
        case 6:
            if let id = idle.takeAny(chance) { perform(machine.removeConnection(id), free: nil) }
        default: cancelOrExpire()
        }
        check()
        calls.append((now, working.count + queue.count))
        if step.isMultiple(of: 10) { expireAll() }
    }

    /// Closes all expired connections; the remaining ones must have been in use at once, or being
    /// made for calls, within the idle timeout.
    private mutating func expireAll() {
        while let id = machine.expire(at: now) { idle.removeAll { $0 == id } }
        // The count from before the window holds until its first event.
        let old = calls.last { now - $0.at > RandomPoolRun.idleTimeout }
        let recent =
            calls.filter { now - $0.at <= RandomPoolRun.idleTimeout } + (old.map { [$0] } ?? [])
        let peak = recent.map(\.count).max() ?? 0
        if idle.count + working.count > peak {
            recordViolation("more connections than were in use")
        }
    }

    /// Closes the pool and ends all work; nothing may remain.
    mutating func finish() {
        machine.close()
        while let id = machine.removeUnneeded() {
            idle.removeAll { $0 == id }
            attempts.removeAll { $0 == id }
        }
        while violation == nil, !machine.isEmpty {
            if let id = working.takeAny(chance) {
                perform(machine.returnConnection(id, at: now), free: id)
            } else if let id = attempts.takeAny(chance) {
                perform(machine.completeConnect(id, at: now), free: id)
            } else {
                recordViolation("not empty, and nothing runs")
            }
        }
        if !queue.isEmpty { recordViolation("a call stayed in the queue") }
    }

    private mutating func checkout() {
        callCount += 1
        switch machine.checkout(callCount) {
        case .lease(let id):
            if idle.last != id { recordViolation("not the connection used last") }
            idle.removeAll { $0 == id }
            working.append(id)
        case .wait(let ticket, let connect):
            if !idle.isEmpty { recordViolation("waits beside an idle connection") }
            queue.append((callCount, ticket))
            if let connect { attempts.append(connect) }
        case .refuse: recordViolation("refused while open")
        }
    }

    private mutating func fail(_ id: ConnectionID) {
        perform(machine.failConnect(id, because: .connect(.connectionRefused)), free: nil)
    }

    private mutating func cancelOrExpire() {
        if !queue.isEmpty, chance.chance(oneIn: 2) {
            perform(
                machine.cancelWaiter(queue.remove(at: chance.below(queue.count)).ticket), free: nil)
        } else if let id = machine.expire(at: now) {
            if idle.first != id { recordViolation("not the oldest expired") }
            idle.removeAll { $0 == id }
        }
    }

    /// Performs an action; `free` is a connection that can be leased or become idle.
    private mutating func perform(_ action: PoolStateMachine<Int>.Action, free: ConnectionID?) {
        switch action {
        case .nothing: if let free { idle.append(free) }
        case .serve(let call, let id):
            if id != free { recordViolation("served by another connection") }
            if queue.isEmpty || queue.removeFirst().call != call {
                recordViolation("not the first in the queue")
            }
            working.append(id)
        case .connect(let id): attempts.append(id)
        case .giveUp(let id): attempts.removeAll { $0 == id }
        case .retire(let id):
            if let free, id != free { idle.append(free) }
            idle.removeAll { $0 == id }
        case .fail(let calls, _, let connect):
            if calls.count != 1 || queue.isEmpty || queue.removeFirst().call != calls[0] {
                recordViolation("not the first in the queue")
            }
            if let connect { attempts.append(connect) }
        }
    }

    private mutating func check() {
        let counts = (machine.idle, machine.leased, machine.connecting, machine.waiting)
        if counts != (idle.count, working.count, attempts.count, queue.count) {
            recordViolation("counts \(counts)")
        }
        let total = idle.count + working.count + attempts.count
        if total > max { recordViolation("more connections than allowed") }
        if idle.count > maxIdle { recordViolation("more idle ones than allowed") }
        if attempts.count < queue.count, total < max {
            recordViolation("fewer attempts than waiters")
        }
        if Set(idle + working + attempts).count != total {
            recordViolation("one id for two connections")
        }
    }

    private mutating func recordViolation(_ text: String) {
        violation = violation ?? text
    }
}

extension [ConnectionID] {
    fileprivate mutating func takeAny(_ chance: Entropy) -> ConnectionID? {
        isEmpty ? nil : remove(at: chance.below(count))
    }
}
