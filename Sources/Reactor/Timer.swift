package import Basics
package import Promises

/// One pending call of a timer queue. Keeping it is only needed to cancel it.
///
/// It carries an action, or the turn of a promise that waits; the latter in place, because every call
/// of a gateway has a timeout and hardly any strikes.
///
/// Unchecked: made and cancelled on its loop's thread only, as `ExecutionContext.schedule` says.
package final class Timer: Cancellable, @unchecked Sendable {
    /// When it is due.
    package let due: Instant

    /// Its place in the heap; negative when it is out of it.
    fileprivate var slot = -1
    fileprivate var action: (() -> Void)?
    fileprivate var job: PromiseJob?
    fileprivate unowned let queue: TimerQueue

    fileprivate init(due: Instant, queue: TimerQueue, action: @escaping () -> Void) {
        self.due = due
        self.queue = queue
        self.action = action
        job = nil
    }

    fileprivate init(due: Instant, queue: TimerQueue, job: consuming PromiseJob) {
        self.due = due
        self.queue = queue
        action = nil
        self.job = consume job
    }

    /// True until it fired or was cancelled.
    package var isPending: Bool { slot >= 0 }

    /// Takes it out of its queue and frees what its action holds. Nothing happens if it is too late.
    package func cancel() {
        guard isPending else { return }
        queue.remove(self)
        forget()
    }

    package func cancel(because cause: (any Error)?) { cancel() }

    /// What the action held may cancel other timers as it goes, so it goes last.
    fileprivate func forget() {
        _ = action.take()
        _ = job.take()
    }

    fileprivate func takeAction() -> (() -> Void)? {
        action.take() ?? { [self] in job.take()?.run() }
    }
}

/// The timers of one loop, ordered by (due, order of creation): a binary heap in which every timer
/// knows its slot, so that cancelling, the fate of most timers of a gateway, frees it at once.
///
/// One system timer serves the whole queue: the loop arms it for `earliest`.
package final class TimerQueue {
    private struct Entry {
        let due: Instant
        let sequence: UInt64
        let timer: Timer

        static func < (one: Entry, other: Entry) -> Bool {
            (one.due, one.sequence) < (other.due, other.sequence)
        }
    }

    private var heap: [Entry] = []

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
        heap.append(Entry(due: timer.due, sequence: made, timer: timer))
        rise(from: heap.count - 1)
        return timer
    }

    /// Takes the next timer that is due at `now` and gives its action, to be run by the loop.
    ///
    /// A pass takes only the timers made before it began (`mark`, from `made`): a timer of zero
    /// that makes the next one would keep the loop from its sockets otherwise.
    package func takeDue(at now: Instant, madeBefore mark: UInt64) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now, first.sequence <= mark else { return nil }
        remove(first.timer)
        return first.timer.takeAction()
    }

    /// Cancels every timer. They may outlive the queue in somebody's hands.
    package func removeAll() {
        let rest = heap
        heap = []
        for entry in rest { entry.timer.slot = -1 }
        for entry in rest { entry.timer.forget() }
    }

    fileprivate func remove(_ timer: Timer) {
        let slot = timer.slot
        timer.slot = -1
        let last = heap.removeLast()
        guard last.timer !== timer else { return }
        heap[slot] = last
        rise(from: slot)
        sink(from: last.timer.slot)
    }

    /// Moves an entry towards the root, past everything that comes after it.
    private func rise(from start: Int) {
        let entry = heap[start]
        var slot = start
        while slot > 0 {
            let parent = (slot - 1) / 2
            guard entry < heap[parent] else { break }
            place(heap[parent], at: slot)
            slot = parent
        }
        place(entry, at: slot)
    }

    /// Moves an entry towards the leaves, past everything that comes before it.
    private func sink(from start: Int) {
        let entry = heap[start]
        var slot = start
        while true {
            var child = 2 * slot + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < entry else { break }
            place(heap[child], at: slot)
            slot = child
        }
        place(entry, at: slot)
    }

    private func place(_ entry: Entry, at slot: Int) {
        heap[slot] = entry
        entry.timer.slot = slot
    }
}
