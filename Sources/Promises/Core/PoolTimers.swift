/// The pending timers of all contexts without timers of their own. Tasks of Swift's global executor
/// sleep until the next ones are due.
///
/// A task is started only for a timer that is due before all others, because a sleeping task that
/// is cancelled stays in memory until its time. A cancelled timer stays in the heap until it is
/// due, or until such timers are the majority.
final class PoolTimers: Sendable {
    static let shared = PoolTimers()

    private struct State: ~Copyable, Sendable {
        var heap = PoolTimerHeap()
        /// How many timers in the heap are cancelled.
        var cancelled = 0
        /// When the sleeping tasks wake, the earliest last.
        var wakeUps: [Duration] = []

        /// The time for which one more task must sleep; nil if one sleeps until then, or until an
        /// earlier time.
        mutating func nextWakeUp() -> Duration? {
            guard let due = heap.earliest?.due else { return nil }
            if let earliest = wakeUps.last, earliest <= due { return nil }
            wakeUps.append(due)
            return due
        }

        /// The next timer that is due. The caller releases it without the lock.
        mutating func popDue(at now: Duration) -> DueTimer? {
            guard let due = heap.earliest?.due, due <= now, let timer = heap.popEarliest() else {
                return nil
            }
            let job = timer.job.take()
            if job == nil { cancelled -= 1 }
            return DueTimer(timer: timer, job: job)
        }

        /// Removes cancelled timers if they are the majority, so that each costs a constant time.
        /// The caller releases them without the lock.
        mutating func removeCancelled() -> [PoolTimer] {
            guard cancelled >= 16, cancelled > heap.count / 2 else { return [] }
            let removed = heap.remove { $0.job.isTaken }
            cancelled -= removed.count
            return removed
        }
    }

    private struct DueTimer: ~Copyable {
        let timer: PoolTimer
        /// Nil if the timer was cancelled.
        var job: PromiseJob?

        mutating func enqueue() {
            if let job = job.take() { timer.context.enqueue(job) }
        }
    }

    private let state = Guarded(State())

    /// The number of timers in memory.
    var count: Int { state.withLock { $0.heap.count } }

    /// The number of sleeping tasks.
    var sleepingTasks: Int { state.withLock { $0.wakeUps.count } }

    func add(_ timer: PoolTimer) {
        let wakeUp = state.withLock { state in
            state.heap.insert(timer)
            return state.nextWakeUp()
        }
        if let wakeUp { sleep(until: wakeUp) }
    }

    /// Called once for each timer whose job was dropped before its time.
    func countCancelled() {
        let removed = state.withLock { state in
            state.cancelled += 1
            return state.removeCancelled()
        }
        _ = removed
    }

    private func sleep(until wakeUp: Duration) {
        Task.detached { [self] in
            // It throws only if the task is cancelled, and nothing cancels it.
            try? await Task.sleep(for: max(wakeUp - SystemClock.reading, .zero))
            enqueueDue(wakeUp)
        }
    }

    /// Enqueues the jobs that are due; called by the task that has slept until `wakeUp`.
    private func enqueueDue(_ wakeUp: Duration) {
        let now = SystemClock.reading
        while var due = state.withLock({ $0.popDue(at: now) }) { due.enqueue() }
        let next = state.withLock { state in
            if let index = state.wakeUps.lastIndex(of: wakeUp) { state.wakeUps.remove(at: index) }
            return state.nextWakeUp()
        }
        if let next { sleep(until: next) }
    }
}
