package import Basics
package import Promises

/// The timers of one loop, ordered by (due, order of creation).
///
/// One system timer serves the whole queue: the loop arms it for `earliest`.
package final class TimerQueue {
    private var heap = TimerHeap()

    /// How many timers were ever added: a mark between those made before a pass and during it.
    package private(set) var made: UInt64 = 0

    package init() {}

    deinit { removeAll() }

    /// How many timers wait.
    package var count: Int { heap.count }

    /// When the next one is due; nil when none waits.
    package var earliest: Instant? { heap.first?.due }

    /// Adds a timer.
    package func add(due: Instant, _ action: @escaping () -> Void) -> Timer {
        add(Timer(due: due, queue: self, action: action))
    }

    /// Adds a timer for the turn of a promise.
    package func add(due: Instant, _ job: consuming PromiseJob) -> Timer {
        add(Timer(due: due, queue: self, job: job))
    }

    private func add(_ timer: Timer) -> Timer {
        made += 1
        heap.insert(timer, sequence: made)
        return timer
    }

    /// Takes the next timer that is due at `now` and gives its action, to be run by the loop.
    ///
    /// A pass takes only the timers made before it began (`mark`, from `made`): a timer of zero
    /// that makes the next one would keep the loop from its sockets otherwise.
    package func takeDue(at now: Instant, madeBefore mark: UInt64) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now, first.sequence <= mark else { return nil }
        heap.remove(first.timer)
        return first.timer.takeAction()
    }

    /// Cancels every timer. They may outlive the queue in somebody's hands.
    package func removeAll() {
        let rest = heap.removeAll()
        for timer in rest { timer.forget() }
    }

    func remove(_ timer: Timer) {
        heap.remove(timer)
    }
}
