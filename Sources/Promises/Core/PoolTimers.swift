/// The pending timers of all contexts without timers of their own, and the thread that enqueues
/// their jobs.
///
/// A thread of its own, because a task that sleeps finds no thread when all threads of Swift's
/// executor block in `wait`. It starts with the first timer, and ends ten seconds after the last
/// one. A cancelled timer stays in the heap until it is due, or until such timers are the majority.
final class PoolTimers: Sendable {
    static let shared = PoolTimers()

    /// How long the thread waits for a timer before it ends.
    private static let idleTime = Duration.seconds(10)

    private struct State: ~Copyable, Sendable {
        var heap = PoolTimerHeap()
        /// How many timers in the heap are cancelled.
        var cancelled = 0
        var hasThread = false

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

    private let state = Monitor(State())

    /// The number of timers in memory.
    var count: Int { state.withLock { $0.heap.count } }

    func add(_ timer: PoolTimer) {
        let (needsThread, isEarliest) = state.withLock { state in
            state.heap.insert(timer)
            defer { state.hasThread = true }
            return (!state.hasThread, state.heap.earliest === timer)
        }
        if needsThread { startThread() } else if isEarliest { state.signal() }
    }

    /// Called once for each timer whose job was dropped before its time.
    func countCancelled() {
        let removed = state.withLock { state in
            state.cancelled += 1
            return state.removeCancelled()
        }
        _ = removed
    }

    private func startThread() {
        if DetachedThread.start({ [self] in runTimers() }) { return }
        // The system cannot start a thread: a thread of Swift's executor waits for the timers, so
        // that none is lost.
        Task.detached { [self] in runTimers() }
    }

    private func runTimers() {
        repeat { enqueueDue() } while waitForNext()
    }

    /// Enqueues the jobs that are due.
    private func enqueueDue() {
        let now = SystemClock.reading
        while var due = state.withLock({ $0.popDue(at: now) }) { due.enqueue() }
    }

    /// Waits until the earliest timer is due, or another one is the earliest. False if there has
    /// been none for so long that the thread must end.
    private func waitForNext() -> Bool {
        let due = state.withLock { $0.heap.earliest?.due }
        let limit = due.map { $0 - SystemClock.reading } ?? PoolTimers.idleTime
        return state.wait(atMost: limit) { state, isLast in
            if isLast, due == nil, state.heap.earliest == nil {
                state.hasThread = false
                return false
            }
            return isLast || state.heap.earliest?.due != due ? true : nil
        } ?? true
    }
}
