import Synchronization

/// A context for tests: jobs run when the test runs them, and time is virtual.
///
/// It belongs to the thread that made it (or last called `claim()`). Only that thread may run its
/// jobs; `enqueue` and `isCurrent` may be called from any thread.
///
/// A pending job or timer holds its promise, which holds this context. So a context that is released
/// with pending jobs or timers stays in memory.
public final class ManualContext: ExecutionContext {
    private struct Clock {
        var now: Duration = .zero
        var timers: [ManualTimer] = []
    }

    private let inbox = Inbox()
    private let owner = Atomic(ThreadID.current.raw)
    private let clock = Guarded(Clock())

    // Accessed by the owner only.
    nonisolated(unsafe) private let readyQueue = ReadyQueue()

    /// A context that belongs to the calling thread, at time zero, with nothing to run.
    public init() {}

    /// Makes the calling thread the owner. The former owner must have stopped running jobs.
    public func claim() {
        owner.store(ThreadID.current.raw, ordering: .sequentiallyConsistent)
    }

    /// Whether the caller is the thread that owns this context.
    public var isCurrent: Bool { owner.load(ordering: .relaxed) == ThreadID.current.raw }

    /// Stores the job behind those that wait already, until the owner runs it. Called from any
    /// thread.
    public func enqueue(_ job: consuming PromiseJob) {
        guard isCurrent else {
            _ = inbox.append(job)
            return
        }
        // Jobs that other threads added earlier come first.
        unsafe readyQueue.append(contentsOf: inbox.takeAll())
        unsafe readyQueue.append(job)
    }

    /// Stores the job until `advance(by:)` has moved the time to the end of the delay; for a delay
    /// of zero too. Called from any thread, and so is `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        let timer = ManualTimer(job, due: now + delay.boundedForTimers)
        clock.withLock {
            let place = $0.timers.lastIndex { $0.due <= timer.due }.map { $0 + 1 } ?? 0
            $0.timers.insert(timer, at: place)
        }
        return ManualTimerToken(timer: timer, context: self)
    }

    /// Virtual time since the context was made. Only `advance(by:)` moves it.
    public var now: Duration { clock.withLock { $0.now } }

    /// Virtual time.
    public var clockReading: Duration { now }

    /// The number of pending timers, for tests that no timer is left.
    public var liveTimers: Int { clock.withLock { $0.timers.count } }

    /// Runs the oldest job. The time does not move. Called by the owner; traps elsewhere.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func runOnce() -> Bool {
        precondition(isCurrent, "a manual context is driven by its owner")
        unsafe readyQueue.append(contentsOf: inbox.takeAll())
        guard unsafe !readyQueue.isEmpty else { return false }
        unsafe readyQueue.drain(atMost: 1)
        return true
    }

    /// Runs jobs, oldest first, and those that they make ready, until none is left. The time does
    /// not move. Called by the owner; traps elsewhere.
    public func drain() {
        precondition(isCurrent, "a manual context is driven by its owner")
        repeat {
            unsafe readyQueue.append(contentsOf: inbox.takeAll())
        } while unsafe readyQueue.runJobs(atMost: 1_000) > 0
    }

    /// Runs what is ready, then moves the time: timers fire at their time, in order, and what they
    /// make ready runs before the next one. Called by the owner; traps elsewhere.
    ///
    /// Time does not go back: a negative duration counts as zero. One call moves the time by at
    /// most 136 years, which is also the longest delay.
    public func advance(by duration: Duration) {
        let end = now + duration.boundedForTimers
        drain()
        while let timer = nextTimer(until: end) {
            timer.job.take()?.run()
            drain()
        }
        clock.withLock { $0.now = end }
    }

    private func nextTimer(until end: Duration) -> ManualTimer? {
        clock.withLock {
            guard let timer = $0.timers.first, timer.due <= end else { return nil }
            $0.timers.removeFirst()
            $0.now = max($0.now, timer.due)
            return timer
        }
    }

    fileprivate func remove(_ timer: ManualTimer) {
        clock.withLock { $0.timers.removeAll { $0 === timer } }
        _ = timer.job.take()
    }
}

private final class ManualTimer: Sendable {
    let due: Duration
    let job: TimedJob

    init(_ job: consuming PromiseJob, due: Duration) {
        self.due = due
        self.job = TimedJob(job)
    }
}

private struct ManualTimerToken: Cancellable {
    let timer: ManualTimer
    let context: ManualContext

    func cancel(because cause: (any Error)?) { context.remove(timer) }
}
