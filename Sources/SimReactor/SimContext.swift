import Basics
import Promises
import Reactor

/// The execution context of a simulated loop.
///
/// Unchecked: a simulation runs on one thread, although `Promise` may be used on any.
final class SimContext: ExecutionContext, @unchecked Sendable {
    weak var loop: SimLoop?

    var isCurrent: Bool { true }

    /// Virtual time.
    var clockReading: Duration { loop.map { $0.now - Instant(nanoseconds: 0) } ?? .zero }

    func enqueue(_ job: consuming PromiseJob) {
        loop?.enqueue(job)
    }

    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        ScheduledJob(job, after: delay, on: loop)
    }
}
