import Dispatch
import Promises

/// A job that waits in a timer of a queue until its time has come.
///
/// A source and not `asyncAfter`, which would keep a cancelled job's block until its time.
struct QueueTimer: Cancellable {
    private let job: TimedJob
    private let source: any DispatchSourceTimer

    init(_ job: consuming PromiseJob, after delay: Duration, on context: QueueContext) {
        let job = TimedJob(job)
        let source = DispatchSource.makeTimerSource(queue: context.queue)
        self.job = job
        self.source = source
        source.setEventHandler {
            // Which also ends that the source and this handler hold each other.
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
    /// As Dispatch counts it.
    fileprivate var interval: DispatchTimeInterval {
        let (seconds, attoseconds) = boundedForTimers.components
        return .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
