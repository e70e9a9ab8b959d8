package import Basics
package import Reactor

/// Virtual time: the list of what will happen, ordered by (time, order of creation). Time stands
/// still while an event runs and jumps to the next one after it.
package final class SimClock {
    /// The moment that it is.
    ///
    /// The start is not zero, so that a forgotten zero shows.
    package private(set) var now = Instant(nanoseconds: 3_600_000_000_000)

    private let events = TimerQueue()

    package init() {}

    /// Adds an event.
    @discardableResult
    package func after(_ delay: Duration, _ action: @escaping () -> Void) -> Timer {
        at(now + max(delay, .zero), action)
    }

    /// Adds an event; a moment that is past is now.
    @discardableResult
    package func at(_ moment: Instant, _ action: @escaping () -> Void) -> Timer {
        events.add(due: max(moment, now), action)
    }

    /// Runs the next event that comes no later than `limit`; false when there is none.
    package func step(until limit: Instant) -> Bool {
        guard let due = events.earliest, due <= limit else { return false }
        now = due
        guard let action = events.takeDue(at: due, addedBefore: .max) else { return false }
        action()
        return true
    }

    /// Lets the time until `moment` pass, when nothing happens before.
    package func pass(until moment: Instant) {
        now = max(now, min(moment, events.earliest ?? moment))
    }

    /// Forgets everything that would happen.
    package func clear() { events.removeAll() }
}
