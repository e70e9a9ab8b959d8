import Foundation
import Promises
import Synchronization

/// An event loop as users of the library write it: one thread, a ready queue, an inbox, and timers
/// whose jobs it runs itself.
final class LoopContext: ExecutionContext, @unchecked Sendable {
    private struct Waiting {
        let due: ContinuousClock.Instant
        let timer: LoopTimer
    }

    private let inbox = Inbox()
    private let condition = NSCondition()
    private var isWoken = false
    private var isStopped = false
    private let thread = Atomic<UInt>(0)

    // Accessed by the thread only.
    private let readyQueue = ReadyQueue()
    private var timers: [Waiting] = []

    init() {
        Thread { [self] in runLoop() }.start()
    }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func enqueue(_ job: consuming PromiseJob) {
        if isCurrent { return readyQueue.append(job) }
        if inbox.append(job) { wake() }
    }

    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        let timer = LoopTimer(job)
        timers.append(Waiting(due: .now + delay, timer: timer))
        return timer
    }

    /// Ends the thread when nothing is ready.
    func stop() {
        condition.withLock { isStopped = true }
        wake()
    }

    private func wake() {
        condition.withLock {
            isWoken = true
            condition.signal()
        }
    }

    private func runLoop() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            readyQueue.append(contentsOf: inbox.takeAll())
            readyQueue.drain()
            runTimers()
            guard readyQueue.isEmpty else { continue }
            guard waitForWork() else { return }
        }
    }

    private func runTimers() {
        let now = ContinuousClock.now
        let due = timers.filter { $0.due <= now }.sorted { $0.due < $1.due }
        timers.removeAll { $0.due <= now || $0.timer.isFinished }
        for one in due {
            one.timer.job.take()?.run()
            readyQueue.drain()
        }
    }

    /// Waits for a job or a timer; false at the end.
    private func waitForWork() -> Bool {
        let next = timers.map(\.due).min()
        return condition.withLock {
            if !isWoken, !isStopped {
                if let next {
                    let rest = max(ContinuousClock.now.duration(to: next), .zero) / .seconds(1)
                    _ = condition.wait(until: Date().addingTimeInterval(min(rest, 3600)))
                } else {
                    condition.wait()
                }
            }
            isWoken = false
            return !isStopped
        }
    }
}

/// Accessed by the thread only, as `ExecutionContext.schedule` guarantees.
private final class LoopTimer: Cancellable, @unchecked Sendable {
    var job: PromiseJob?
    var isFinished: Bool { job == nil }

    init(_ job: consuming PromiseJob) { self.job = consume job }

    func cancel(because cause: (any Error)?) { job = nil }
}
