import Foundation
import Promises
import Synchronization

/// An event loop as a user of the library would write it: one thread, a ready queue, an inbox and
/// timers whose jobs it runs itself.
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

    // The thread's own.
    private let readyQueue = ReadyQueue()
    private var timers: [Waiting] = []

    init() {
        Thread { [self] in run() }.start()
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

    /// Ends the thread once nothing is ready.
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

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            readyQueue.append(contentsOf: inbox.takeAll())
            readyQueue.drain()
            runTimers()
            guard readyQueue.isEmpty else { continue }
            guard waits() else { return }
        }
    }

    private func runTimers() {
        let now = ContinuousClock.now
        let due = timers.filter { $0.due <= now }.sorted { $0.due < $1.due }
        timers.removeAll { $0.due <= now || $0.timer.isOver }
        for one in due {
            one.timer.job.take()?.run()
            readyQueue.drain()
        }
    }

    /// Waits for a job or a timer; false at the end.
    private func waits() -> Bool {
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

/// The thread's own, as `ExecutionContext.schedule` says.
private final class LoopTimer: Cancellable, @unchecked Sendable {
    var job: PromiseJob?
    var isOver: Bool { job == nil }

    init(_ job: consuming PromiseJob) { self.job = consume job }

    func cancel(because cause: (any Error)?) { job = nil }
}
