/// A timer of a context that has no timers of its own: it enqueues its job after a delay.
///
/// `PoolTimers` holds it until then. Cancelling it frees the job at once.
final class PoolTimer: Cancellable, Sendable {
    /// Time of the system's clock.
    let due: Duration
    let job: TimedJob
    let context: any ExecutionContext

    private let timers: PoolTimers

    init(
        _ job: consuming PromiseJob, after delay: Duration, on context: any ExecutionContext,
        in timers: PoolTimers = .shared
    ) {
        due = SystemClock.reading + delay.boundedForTimers
        self.job = TimedJob(job)
        self.context = context
        self.timers = timers
        timers.add(self)
    }

    func cancel(because cause: (any Error)?) {
        guard let job = job.take() else { return }
        _ = consume job
        timers.countCancelled()
    }
}
