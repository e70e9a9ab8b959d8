import Dispatch
import Promises

/// A timer of a queue that enqueues its job after a delay.
///
/// A timer source, because `asyncAfter` would keep the block of a cancelled job until its time.
struct QueueTimer: Cancellable {
    private let job: TimedJob
    private let source: any DispatchSourceTimer

    init(_ job: consuming PromiseJob, after delay: Duration, on context: QueueContext) {
        let job = TimedJob(job)
        let source = DispatchSource.makeTimerSource(queue: context.queue)
        self.job = job
        self.source = source
        source.setEventHandler {
            // This also breaks the reference cycle between the source and this handler.
            source.cancel()
            if let job = job.take() { context.enqueue(job) }
        }
        source.schedule(deadline: .now() + delay.interval, leeway: .nanoseconds(0))
        source.resume()
    }

    func cancel(because cause: (any Error)?) {
        _ = job.take()
        source.cancel()
    }
}

extension Duration {
    /// The duration as a Dispatch interval.
    fileprivate var interval: DispatchTimeInterval {
        let (seconds, attoseconds) = boundedForTimers.components
        return .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
