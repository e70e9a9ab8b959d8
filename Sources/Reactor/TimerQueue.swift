package import Basics
package import Promises

/// The timers of one loop, ordered by (due, order of creation).
///
/// One system timer serves the whole queue: the loop arms it for `earliest`.
package final class TimerQueue {
    /// Shared with the timers, which may outlive the queue in somebody's hands.
    private let table = TimerTable()

    package init() {}

    deinit { removeAll() }

    /// How many timers wait.
    package var count: Int { table.count }

    /// How many timers were ever added: a mark between those made before a pass and during it.
    package var made: UInt64 { table.made }

    /// When the next one is due; nil when none waits.
    package var earliest: Instant? { table.first?.due }

    /// Adds a timer.
    package func add(due: Instant, _ action: @escaping () -> Void) -> Timer {
        let (slot, sequence) = table.insert(due, action)
        return Timer(table: table, slot: slot, sequence: sequence)
    }

    /// Adds a timer for the turn of a promise.
    package func add(due: Instant, _ job: consuming PromiseJob) -> Timer {
        add(due: due, job.action())
    }

    /// Takes the next timer that is due at `now` and gives its action, to be run by the loop.
    ///
    /// A pass takes only the timers made before it began (`mark`, from `made`): a timer of zero
    /// that makes the next one would keep the loop from its sockets otherwise.
    package func takeDue(at now: Instant, madeBefore mark: UInt64) -> (() -> Void)? {
        guard let first = table.first, first.due <= now, first.sequence <= mark else { return nil }
        return table.remove(first.slot, first.sequence)
    }

    /// Cancels every timer.
    package func removeAll() {
        let actions = table.removeAll()
        // What they held may cancel other timers as it goes, in a table that is empty already.
        _ = actions
    }
}
