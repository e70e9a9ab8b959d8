package import Basics
import Promises

/// One pending call of a timer queue. Keeping it is only needed to cancel it.
///
/// It carries an action, or the turn of a promise that waits; the latter in place, because every call
/// of a gateway has a timeout and hardly any strikes.
///
/// Unchecked: made and cancelled on its loop's thread only, as `ExecutionContext.schedule` says.
package final class Timer: Cancellable, @unchecked Sendable {
    /// When it is due.
    package let due: Instant

    /// Its place in the heap; negative when it is out of it.
    var slot = -1
    private var action: (() -> Void)?
    private var job: PromiseJob?
    private unowned let queue: TimerQueue

    init(due: Instant, queue: TimerQueue, action: @escaping () -> Void) {
        self.due = due
        self.queue = queue
        self.action = action
        job = nil
    }

    init(due: Instant, queue: TimerQueue, job: consuming PromiseJob) {
        self.due = due
        self.queue = queue
        action = nil
        self.job = consume job
    }

    /// True until it fired or was cancelled.
    package var isPending: Bool { slot >= 0 }

    /// Takes it out of its queue and frees what its action holds. Nothing happens if it is too late.
    package func cancel() {
        guard isPending else { return }
        queue.remove(self)
        forget()
    }

    package func cancel(because cause: (any Error)?) { cancel() }

    /// What the action held may cancel other timers as it goes, so it goes last.
    func forget() {
        _ = action.take()
        _ = job.take()
    }

    func takeAction() -> (() -> Void)? {
        action.take() ?? { [self] in job.take()?.run() }
    }
}
