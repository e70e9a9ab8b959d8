import CUV
package import Promises
import Reactor
import Synchronization

/// The execution context of a loop's promises, and the wake-up of the loop for other threads.
///
/// `enqueue` and `announce` may be called on any thread at any time. On the loop's own thread a job
/// goes to its ready queue; on another it is stored here, and the first one wakes the loop. After
/// the loop's end inboxes are refused and jobs are leaked, since their closures may only be
/// released on their own thread.
///
/// Unchecked, because: a lock guards `waiting`, which contains the wake-up handle; `thread` never
/// changes; `readyQueue` and `loop` are used only where `isCurrent`, which is the loop's thread.
package final class UVContext: ExecutionContext, @unchecked Sendable {
    /// Work of other threads since the loop last checked.
    private struct Waiting: ~Copyable {
        var jobs = JobList()
        /// Inboxes with messages.
        var inboxes: [any AnnouncedInbox] = []
        /// Nil after the end of the loop.
        var wakeUp: UnsafeMutablePointer<uv_async_t>?
        var isLoopWoken = false

        /// Wakes the loop, once until it checks: the only call that libuv allows on another thread.
        /// False if libuv fails; the next call tries again.
        mutating func wakeLoop() -> Bool {
            if !isLoopWoken { isLoopWoken = tributary_uv_async_send(wakeUp) >= 0 }
            return isLoopWoken
        }
    }

    private let waiting: Guarded<Waiting>
    private let thread = uv_thread_self()
    private let isOpen = Atomic(false)
    /// Whether jobs of other threads are stored. The lock guards the changes. Relaxed, because it
    /// orders nothing: if the loop's thread adds a job that must come behind one of another thread,
    /// such as the next handler of a promise, it has read the promise's state, which that thread
    /// published after it had added its job.
    private let hasJobs = Atomic(false)
    private let readyQueue: ReadyQueue
    /// Nil after the end of the loop. Not `weak`, which would make every retain of the loop slower.
    private unowned(unsafe) var loop: UVLoop?

    /// Called on the loop's thread.
    init(readyQueue: ReadyQueue) {
        self.readyQueue = readyQueue
        waiting = Guarded(Waiting())
    }

    func open(_ loop: UVLoop, wakeUp: UnsafeMutablePointer<uv_async_t>) {
        self.loop = loop
        waiting.withLock { $0.wakeUp = wakeUp }
        isOpen.store(true, ordering: .releasing)
    }

    /// Refuses work of other threads; the loop's own handlers may still complete.
    func refuseOtherThreads() { waiting.withLock { $0.wakeUp = nil } }

    func close() {
        loop = nil
        isOpen.store(false, ordering: .releasing)
    }

    // MARK: From any thread

    /// Whether the caller runs on the loop's thread. A new thread may have the id of an ended one;
    /// hence the first check.
    package var isCurrent: Bool {
        guard isOpen.load(ordering: .acquiring) else { return false }
        var (one, other) = (thread, uv_thread_self())
        return uv_thread_equal(&one, &other) != 0
    }

    package func enqueue(_ job: consuming PromiseJob) {
        if isCurrent {
            // Jobs that other threads added earlier come first.
            if hasJobs.load(ordering: .relaxed) { waiting.withLock { takeJobs(&$0) } }
            readyQueue.append(job)
            return
        }
        var moved: PromiseJob? = consume job
        waiting.withLock { waiting in
            guard waiting.wakeUp != nil, let job = moved.take() else { return }
            waiting.jobs.append(job)
            hasJobs.store(true, ordering: .relaxed)
            _ = waiting.wakeLoop()
        }
    }

    /// Makes the loop deliver the messages of `inbox` soon; false if the loop has ended or cannot
    /// be woken.
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

    /// A timer on a loop that has ended: it never fires.
    private struct NoTimer: Cancellable {
        func cancel(because cause: (any Error)?) {}
    }

    /// Moves stored jobs to the ready queue.
    private func takeJobs(_ waiting: inout Waiting) {
        hasJobs.store(false, ordering: .relaxed)
        var jobs = JobList()
        swap(&jobs, &waiting.jobs)
        readyQueue.append(contentsOf: jobs)
    }

    /// Moves stored jobs to the ready queue and delivers messages.
    func deliver() {
        guard let loop else { return }
        loop.beginCallback()
        var inboxes: [any AnnouncedInbox] = []
        waiting.withLock { waiting in
            waiting.isLoopWoken = false
            takeJobs(&waiting)
            swap(&inboxes, &waiting.inboxes)
        }
        loop.finishCallback()
        for inbox in inboxes { inbox.deliver() }
    }
}
