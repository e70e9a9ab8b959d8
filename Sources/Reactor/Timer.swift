package import Basics

/// One pending call of a timer queue. Keeping it is only needed to cancel it.
package final class Timer {
    /// When it is due.
    package let due: Instant

    /// Its place in the heap; negative when it is out of it.
    fileprivate var slot = -1
    fileprivate var action: (() -> Void)?
    fileprivate unowned let queue: TimerQueue

    fileprivate init(due: Instant, queue: TimerQueue, action: @escaping () -> Void) {
        self.due = due
        self.queue = queue
        self.action = action
    }

    /// True until it fired or was cancelled.
    package var isPending: Bool { slot >= 0 }

    /// Takes it out of its queue and frees what its action holds. Nothing happens if it is too late.
    package func cancel() {
        guard isPending else { return }
        queue.remove(self)
        // What the action held may cancel other timers as it goes, so it goes last.
        _ = action.take()
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
        made += 1
        let timer = Timer(due: due, queue: self, action: action)
        heap.append(Entry(due: due, sequence: made, timer: timer))
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
        return first.timer.action.take()
    }

    /// Cancels every timer. They may outlive the queue in somebody's hands.
    package func removeAll() {
        let rest = heap
        heap = []
        for entry in rest { entry.timer.slot = -1 }
        for entry in rest { _ = entry.timer.action.take() }
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
