package import Basics

/// One pending call of a timer queue. Keeping it is only needed to cancel it.
package final class Timer {
    /// When it is due.
    package let due: Instant

    fileprivate let sequence: UInt64
    fileprivate var slot: Int
    fileprivate var action: (() -> Void)?
    fileprivate unowned let queue: TimerQueue

    fileprivate init(
        due: Instant, sequence: UInt64, slot: Int, queue: TimerQueue, action: @escaping () -> Void
    ) {
        self.due = due
        self.sequence = sequence
        self.slot = slot
        self.queue = queue
        self.action = action
    }

    /// True until it fired or was cancelled.
    package var isPending: Bool { action != nil }

    /// Takes it out of its queue and frees what its action holds. Nothing happens if it is too late.
    package func cancel() {
        guard action != nil else { return }
        queue.remove(self)
        action = nil
    }
}

/// The timers of one loop, ordered by (due, order of creation): a binary heap in which every timer
/// knows its slot, so that cancelling, the fate of most timers of a gateway, frees it at once.
///
/// One system timer serves the whole queue: the loop arms it for `earliest`.
package final class TimerQueue {
    private var heap: [Timer] = []
    private var made: UInt64 = 0

    package init() {}

    deinit {
        // A timer may outlive its queue in somebody's hands; cancelling it then does nothing.
        for timer in heap { timer.action = nil }
    }

    /// How many timers wait.
    package var count: Int { heap.count }

    /// When the next one is due; nil when none waits.
    package var earliest: Instant? { heap.first?.due }

    /// Adds a timer.
    package func add(due: Instant, _ action: @escaping () -> Void) -> Timer {
        made += 1
        let timer = Timer(due: due, sequence: made, slot: heap.count, queue: self, action: action)
        heap.append(timer)
        rise(timer)
        return timer
    }

    /// Takes the next timer that is due at `now` and gives its action, to be run by the loop.
    package func takeDue(at now: Instant) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now else { return nil }
        remove(first)
        let action = first.action
        first.action = nil
        return action
    }

    fileprivate func remove(_ timer: Timer) {
        let slot = timer.slot
        let last = heap.removeLast()
        guard last !== timer else { return }
        place(last, at: slot)
        rise(last)
        sink(last)
    }

    private func rise(_ timer: Timer) {
        while timer.slot > 0 {
            let parent = heap[(timer.slot - 1) / 2]
            guard isBefore(timer, parent) else { return }
            swap(timer, parent)
        }
    }

    private func sink(_ timer: Timer) {
        while true {
            var next = 2 * timer.slot + 1
            guard next < heap.count else { return }
            if next + 1 < heap.count, isBefore(heap[next + 1], heap[next]) { next += 1 }
            let child = heap[next]
            guard isBefore(child, timer) else { return }
            swap(child, timer)
        }
    }

    private func isBefore(_ one: Timer, _ other: Timer) -> Bool {
        (one.due, one.sequence) < (other.due, other.sequence)
    }

    /// Exchanges a timer with its parent in the heap.
    private func swap(_ lower: Timer, _ upper: Timer) {
        let slot = upper.slot
        place(upper, at: lower.slot)
        place(lower, at: slot)
    }

    private func place(_ timer: Timer, at slot: Int) {
        heap[slot] = timer
        timer.slot = slot
    }
}
