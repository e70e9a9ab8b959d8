import Basics
import Reactor

extension SimNetwork {
    /// Runs the next event; false if there is none.
    @discardableResult
    package func step() -> Bool { step(until: Instant(nanoseconds: .max)) }

    /// Jobs that the test enqueued run before the next event.
    private func step(until limit: Instant) -> Bool {
        for loop in loops { loop.drainWaiting() }
        return clock.step(until: limit)
    }

    /// Runs until `isDone`; false if the events end, or `eventsMax` events ran, before.
    @discardableResult
    package func run(until isDone: () -> Bool, eventsMax: Int = 1_000_000) -> Bool {
        for _ in 0..<eventsMax {
            if isDone() { return true }
            if !step() { break }
        }
        return isDone()
    }

    /// Runs until no event is left, timers included. False after `eventsMax` events, as when two
    /// events create each other endlessly.
    @discardableResult
    package func runUntilQuiet(eventsMax: Int = 1_000_000) -> Bool {
        for _ in 0..<eventsMax {
            if !step() { return true }
        }
        return false
    }

    /// Runs all events within `duration` and advances the time by it.
    package func advance(by duration: Duration) {
        let end = clock.now + duration
        while step(until: end) {}
        clock.advance(until: end)
    }

    /// Objects that are still open on any loop: empty at the end of a test.
    package var leftovers: [String] {
        loops.flatMap { loop in loop.leftovers.map { "\(loop.name): \($0)" } }
    }
}

extension SimLoop {
    /// Objects that are still open on this loop.
    package var leftovers: [String] {
        let counts = [
            (openStreams, "streams"), (openListeners, "listeners"), (pendingTimers, "timers"),
            (openAttempts, "attempts to connect"), (openInboxes, "inboxes"),
        ]
        return counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }
}
