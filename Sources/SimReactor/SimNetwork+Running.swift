import Basics
import Reactor

extension SimNetwork {
    /// Runs the next event; false when nothing is left to happen.
    @discardableResult
    package func step() -> Bool { step(until: Instant(nanoseconds: .max)) }

    /// What the test itself enqueued is run before the next event.
    private func step(until limit: Instant) -> Bool {
        for loop in loops { loop.drainWaiting() }
        return clock.step(until: limit)
    }

    /// Runs until `isDone`; false if nothing is left to happen, or `eventsMax` happened, before.
    @discardableResult
    package func run(until isDone: () -> Bool, eventsMax: Int = 1_000_000) -> Bool {
        for _ in 0..<eventsMax {
            if isDone() { return true }
            if !step() { break }
        }
        return isDone()
    }

    /// Runs until nothing is left to happen, timers included; false after `eventsMax` events: two
    /// that make each other for ever.
    @discardableResult
    package func runUntilQuiet(eventsMax: Int = 1_000_000) -> Bool {
        for _ in 0..<eventsMax {
            if !step() { return true }
        }
        return false
    }

    /// Runs everything that happens within `duration`, which has passed then.
    package func advance(by duration: Duration) {
        let end = clock.now + duration
        while step(until: end) {}
        clock.pass(until: end)
    }

    /// What is still alive on any loop: empty at the end of a test.
    package var leftovers: [String] {
        loops.flatMap { loop in loop.leftovers.map { "\(loop.name): \($0)" } }
    }
}

extension SimLoop {
    /// What is still alive on this loop.
    package var leftovers: [String] {
        let counts = [
            (openStreams, "streams"), (openListeners, "listeners"), (pendingTimers, "timers"),
            (openAttempts, "attempts to connect"), (openInboxes, "inboxes"),
        ]
        return counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }
}
