package import Basics
package import Promises

/// The timers of one loop, ordered by (due, order of creation).
///
/// One system timer serves the whole queue: the loop arms it for `earliest`.
package final class TimerQueue {
    /// Shared with the timers, which may outlive the queue.
    private let table = TimerTable()

    package init() {}

    deinit { removeAll() }

    /// The number of pending timers.
    package var count: Int { table.count }

    /// The number of timers that were ever added; separates timers added before a loop iteration
    /// from those added during it.
    package var addedCount: UInt64 { table.addedCount }

    /// When the next timer is due; nil without timers.
    package var earliest: Instant? { table.first?.due }

    /// Adds a timer.
    package func add(due: Instant, _ action: @escaping () -> Void) -> Timer {
        let (slot, sequence) = table.insert(due, action)
        return Timer(table: table, slot: slot, sequence: sequence)
    }

    /// Adds a timer for a promise job.
    package func add(due: Instant, _ job: consuming PromiseJob) -> Timer {
        add(due: due, job.action())
    }

    /// Removes the next timer that is due at `now` and returns its action, which the loop runs.
    ///
    /// An iteration takes only timers that were added before it began (`mark`, an earlier
    /// `addedCount`): otherwise timers with a delay of zero that add each other would starve the
    /// sockets.
    package func takeDue(at now: Instant, addedBefore mark: UInt64) -> (() -> Void)? {
        guard let first = table.first, first.due <= now, first.sequence <= mark else { return nil }
        return table.remove(first.slot, first.sequence)
    }

    /// Cancels every timer.
    package func removeAll() {
        let actions = table.removeAll()
        // Releasing the actions may cancel other timers, in a table that is empty already.
        _ = actions
    }
}
