import Synchronization

/// A context for tests: nothing runs until it is told to, and its time is virtual.
///
/// It belongs to the thread that made it (or last called `claim()`), which alone may drive it and
/// ask it; `enqueue` and `isCurrent` are for every thread.
public final class ManualContext: ExecutionContext {
    private struct Clock {
        var now: Duration = .zero
        var timers: [ManualTimer] = []
    }

    private let inbox = Inbox()
    private let owner = Atomic(ThreadID.current.raw)
    private let clock = Guarded(Clock())

    // The owner's: only it takes turns.
    nonisolated(unsafe) private let turn = Turn()

    /// A context that belongs to the calling thread, at time zero.
    public init() {}

    /// Makes the calling thread the owner.
    public func claim() {
        owner.store(ThreadID.current.raw, ordering: .sequentiallyConsistent)
    }

    /// Whether the caller runs on this context.
    public var isCurrent: Bool { owner.load(ordering: .relaxed) == ThreadID.current.raw }

    /// Runs the job soon, behind those that wait already.
    public func enqueue(_ job: consuming PromiseJob) {
        if isCurrent { unsafe turn.append(job) } else { _ = inbox.append(job) }
    }

    /// Runs the job after a delay.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        let timer = ManualTimer(job, due: now + max(delay, .zero))
        clock.withLock {
            let place = $0.timers.lastIndex { $0.due <= timer.due }.map { $0 + 1 } ?? 0
            $0.timers.insert(timer, at: place)
        }
        return ManualTimerToken(timer: timer, context: self)
    }

    /// Virtual time since the context was made.
    public var now: Duration { clock.withLock { $0.now } }

    /// How many timers are running.
    public var liveTimers: Int { clock.withLock { $0.timers.count } }

    /// Runs the oldest job; false if there was none.
    @discardableResult
    public func runOnce() -> Bool {
        precondition(isCurrent, "a manual context is driven by its owner")
        unsafe turn.append(contentsOf: inbox.takeAll())
        guard unsafe !turn.isEmpty else { return false }
        unsafe turn.drain(atMost: 1)
        return true
    }

    /// Runs jobs until none is left. Time stands still.
    public func drain() {
        precondition(isCurrent, "a manual context is driven by its owner")
        repeat {
            unsafe turn.append(contentsOf: inbox.takeAll())
        } while unsafe turn.run(atMost: 1_000) > 0
    }

    /// Runs what is ready, then lets time pass: timers fire at their moment, in order, and what
    /// they make ready runs before the next.
    public func advance(by duration: Duration) {
        let end = now + duration
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
