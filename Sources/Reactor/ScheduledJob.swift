package import Promises

/// A promise's timer on a loop.
///
/// Unchecked: created and cancelled on the loop's thread only, as `ExecutionContext.schedule`
/// requires.
package final class ScheduledJob: Cancellable, @unchecked Sendable {
    private var job: PromiseJob?
    private var timer: Timer?

    /// Runs `job` after `delay`; does nothing if the loop has ended.
    package init(_ job: consuming PromiseJob, after delay: Duration, on loop: (any Loop)?) {
        self.job = consume job
        timer = loop?.timer(after: delay) { self.job.take()?.run() }
        if timer == nil { self.job = nil }
    }

    package func cancel(because cause: (any Error)?) {
        timer.take()?.cancel()
        job = nil
    }
}
