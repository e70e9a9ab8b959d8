package import Basics
package import Reactor

/// Virtual time: the list of future events, ordered by (time, order of creation). Time is constant
/// during an event and then jumps to the next one.
package final class SimClock {
    /// The present time.
    ///
    /// The start is not zero, so that uninitialised times show up.
    package private(set) var now = Instant(nanoseconds: 3_600_000_000_000)

    private let events = TimerQueue()

    package init() {}

    /// Adds an event.
    @discardableResult
    package func after(_ delay: Duration, _ action: @escaping () -> Void) -> Timer {
        at(now + max(delay, .zero), action)
    }

    /// Adds an event; a time in the past means now.
    @discardableResult
    package func at(_ moment: Instant, _ action: @escaping () -> Void) -> Timer {
        events.add(due: max(moment, now), action)
    }

    /// Runs the next event up to `limit`; false if there is none.
    package func step(until limit: Instant) -> Bool {
        guard let due = events.earliest, due <= limit else { return false }
        now = due
        guard let action = events.takeDue(at: due, addedBefore: .max) else { return false }
        action()
        return true
    }

    /// Advances the time to `moment`, or to the next event if that is earlier.
    package func advance(until moment: Instant) {
        now = max(now, min(moment, events.earliest ?? moment))
    }

    /// Removes all events.
    package func clear() { events.removeAll() }
}
