import CUV
package import Promises
import Reactor
import Synchronization

/// The execution context of a loop's promises, and what wakes the loop for other threads.
///
/// `enqueue` and `announce` may be called on every thread, at any time: on the loop's own thread a job
/// goes to its ready queue, else it waits here, and the first one wakes the loop. After the loop's end
/// inboxes are refused and jobs are leaked, since their closures may only be released on their own
/// thread.
///
/// Unchecked, because: `waiting` is guarded, and the wake-up handle lives inside it; `thread` never
/// changes; `readyQueue` and `loop` are touched only where `isCurrent`, which is the loop's thread.
package final class UVContext: ExecutionContext, @unchecked Sendable {
    /// What came from other threads since the loop looked last.
    private struct Waiting: ~Copyable {
        var jobs = JobList()
        /// Those that have messages.
        var inboxes: [any AnnouncedInbox] = []
        /// nil once the loop has ended.
        var wakeUp: UnsafeMutablePointer<uv_async_t>?
        var isLoopWoken = false

        /// Wakes the loop, once for all that comes until it looks: the one thing that libuv allows
        /// on another thread. False if libuv fails; then the next caller tries again.
        mutating func wakeLoop() -> Bool {
            if !isLoopWoken { isLoopWoken = tributary_uv_async_send(wakeUp) >= 0 }
            return isLoopWoken
        }
    }

    private let waiting: Guarded<Waiting>
    private let thread = uv_thread_self()
    private let isOpen = Atomic(false)
    private let readyQueue: ReadyQueue
    /// nil once the loop has ended. Not `weak`: that would make every retain of the loop a slow one.
    private unowned(unsafe) var loop: UVLoop?

    /// On the loop's thread.
    init(readyQueue: ReadyQueue) {
        self.readyQueue = readyQueue
        waiting = Guarded(Waiting())
    }

    func open(_ loop: UVLoop, wakeUp: UnsafeMutablePointer<uv_async_t>) {
        self.loop = loop
        waiting.withLock { $0.wakeUp = wakeUp }
        isOpen.store(true, ordering: .releasing)
    }

    /// Refuses what comes from other threads; the loop's own handlers may still come to an end.
    func refuse() { waiting.withLock { $0.wakeUp = nil } }

    func close() {
        loop = nil
        isOpen.store(false, ordering: .releasing)
    }

    // MARK: From any thread

    /// Whether the caller runs on the loop's thread. A thread may get the number of one that has
    /// ended; hence the first half.
    package var isCurrent: Bool {
        guard isOpen.load(ordering: .acquiring) else { return false }
        var (one, other) = (thread, uv_thread_self())
        return uv_thread_equal(&one, &other) != 0
    }

    package func enqueue(_ job: consuming PromiseJob) {
        if isCurrent {
            readyQueue.append(job)
            return
        }
        var moved: PromiseJob? = consume job
        waiting.withLock { waiting in
            guard waiting.wakeUp != nil, let job = moved.take() else { return }
            waiting.jobs.append(job)
            _ = waiting.wakeLoop()
        }
    }

    /// Has the loop deliver the messages of `inbox` soon; false if the loop has ended or cannot be
    /// woken.
    func announce(_ inbox: any AnnouncedInbox) -> Bool {
        waiting.withLock { waiting in
            guard waiting.wakeUp != nil, waiting.wakeLoop() else { return false }
            waiting.inboxes.append(inbox)
            return true
        }
    }

    // MARK: On the loop's thread

    package func schedule(
        after delay: Duration, _ job: consuming PromiseJob
    ) -> any Cancellable {
        loop?.schedule(job, after: delay) ?? NoTimer()
    }

    /// What is scheduled on a loop that has ended: it never comes.
    private struct NoTimer: Cancellable {
        func cancel(because cause: (any Error)?) {}
    }

    /// Puts the jobs that wait into the ready queue, and delivers the messages.
    func deliver() {
        guard let loop else { return }
        var inboxes: [any AnnouncedInbox] = []
        waiting.withLock { waiting in
            waiting.isLoopWoken = false
            var jobs = JobList()
            swap(&jobs, &waiting.jobs)
            readyQueue.append(contentsOf: jobs)
            swap(&inboxes, &waiting.inboxes)
        }
        loop.finishCallback()
        for inbox in inboxes { inbox.deliver() }
    }
}
