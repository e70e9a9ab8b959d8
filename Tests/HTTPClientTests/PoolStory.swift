import Basics
import Reactor

@testable import HTTPClient

/// A pool's life by chance, beside the simplest possible order-keeping of what ought to be.
struct PoolStory {
    private var machine: PoolStateMachine<Int>
    private let chance: Entropy
    private let maxIdle: Int
    private let max: Int

    private var now = Instant(nanoseconds: 0)
    private var callers = 0
    private var line: [(caller: Int, ticket: PoolStateMachine<Int>.Ticket)] = []
    private var attempts: [ConnectionID] = []
    private var working: [ConnectionID] = []
    private var idle: [ConnectionID] = []
    /// How many calls there were at once, and when: those that had a connection or waited for one.
    private var calls: [(at: Instant, count: Int)] = []
    private static let idleTimeout = Duration.seconds(5)

    /// What was wrong first.
    private(set) var complaint: String?

    init(seed: UInt64, maxIdle: Int, max: Int?) {
        machine = PoolStateMachine(
            maxIdle: maxIdle, maxConnections: max, idleTimeout: PoolStory.idleTimeout)
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
                run(machine.returnConnection(id, at: now), about: id)
            }
        case 3:
            if let id = attempts.takeAny(chance) {
                run(machine.completeAttempt(id, at: now), about: id)
            }
        case 4: if let id = attempts.takeAny(chance) { fail(id) }
        case 5:
            if let id = working.takeAny(chance) { run(machine.removeConnection(id), about: nil) }
        case 6: if let id = idle.takeAny(chance) { run(machine.removeConnection(id), about: nil) }
        default: leaveOrExpire()
        }
        check()
        calls.append((now, working.count + line.count))
        if step.isMultiple(of: 10) { expireAll() }
    }

    /// Closes all connections that have idled long enough; those that are left must have been in use
    /// at once, or being made for calls, within the idle timeout.
    private mutating func expireAll() {
        while let id = machine.expire(at: now) { idle.removeAll { $0 == id } }
        // The count from before the window holds until its first event.
        let old = calls.last { now - $0.at > PoolStory.idleTimeout }
        let recent =
            calls.filter { now - $0.at <= PoolStory.idleTimeout } + (old.map { [$0] } ?? [])
        let peak = recent.map(\.count).max() ?? 0
        if idle.count + working.count > peak { complain("more connections than were in use") }
    }

    /// Closes the pool and ends what runs; nothing may remain.
    mutating func finish() {
        machine.close()
        while let id = machine.removeUnneeded() {
            idle.removeAll { $0 == id }
            attempts.removeAll { $0 == id }
        }
        while complaint == nil, !machine.isEmpty {
            if let id = working.takeAny(chance) {
                run(machine.returnConnection(id, at: now), about: id)
            } else if let id = attempts.takeAny(chance) {
                run(machine.completeAttempt(id, at: now), about: id)
            } else {
                complain("not quiet, and nothing runs")
            }
        }
        if !line.isEmpty { complain("somebody was forgotten in the line") }
    }

    private mutating func checkout() {
        callers += 1
        switch machine.checkout(callers) {
        case .lease(let id):
            if idle.last != id { complain("not the connection used last") }
            idle.removeAll { $0 == id }
            working.append(id)
        case .wait(let ticket, let connect):
            if !idle.isEmpty { complain("waits beside an idle connection") }
            line.append((callers, ticket))
            if let connect { attempts.append(connect) }
        case .refuse: complain("refused while open")
        }
    }

    private mutating func fail(_ id: ConnectionID) {
        run(machine.failAttempt(id, because: .connect(.connectionRefused)), about: nil)
    }

    private mutating func leaveOrExpire() {
        if !line.isEmpty, chance.chance(oneIn: 2) {
            run(machine.cancelWaiter(line.remove(at: chance.below(line.count)).ticket), about: nil)
        } else if let id = machine.expire(at: now) {
            if idle.first != id { complain("not the oldest expired") }
            idle.removeAll { $0 == id }
        }
    }

    /// Does what the machine says; `about` is a connection that is free to be leased or kept.
    private mutating func run(_ action: PoolStateMachine<Int>.Action, about free: ConnectionID?) {
        switch action {
        case .nothing: if let free { idle.append(free) }
        case .serve(let caller, let id):
            if id != free { complain("served by another connection") }
            if line.isEmpty || line.removeFirst().caller != caller {
                complain("not the first in line")
            }
            working.append(id)
        case .connect(let id): attempts.append(id)
        case .giveUp(let id): attempts.removeAll { $0 == id }
        case .retire(let id):
            if let free, id != free { idle.append(free) }
            idle.removeAll { $0 == id }
        case .fail(let caller, _, let connect):
            if line.isEmpty || line.removeFirst().caller != caller {
                complain("not the first in line")
            }
            if let connect { attempts.append(connect) }
        }
    }

    private mutating func check() {
        let counts = (machine.idle, machine.leased, machine.connecting, machine.waiting)
        if counts != (idle.count, working.count, attempts.count, line.count) {
            complain("counts \(counts)")
        }
        let total = idle.count + working.count + attempts.count
        if total > max { complain("more connections than allowed") }
        if idle.count > maxIdle { complain("more idle ones than allowed") }
        if attempts.count < line.count, total < max { complain("fewer attempts than waiters") }
        if Set(idle + working + attempts).count != total {
            complain("one name for two connections")
        }
    }

    private mutating func complain(_ text: String) {
        complaint = complaint ?? text
    }
}

extension [ConnectionID] {
    fileprivate mutating func takeAny(_ chance: Entropy) -> ConnectionID? {
        isEmpty ? nil : remove(at: chance.below(count))
    }
}
