import CUV
package import Promises
import Reactor
import Synchronization

/// The door of a loop for other threads, and the execution context of its promises.
///
/// `post` and `enqueue` may be called from anywhere, for ever: on the loop's own thread a job goes
/// to the turn, else into the inbox, and the first one in wakes the loop. After the loop's end
/// letters are refused and jobs are leaked, since their closures may only die on their own thread.
///
/// Unchecked, because: `inbox` is a mutex, and the wake-up handle lives inside it; `thread` never
/// changes; `turn` and `loop` are touched only where `isCurrent`, which is the loop's thread.
package final class Port: ExecutionContext, @unchecked Sendable {
    /// Work for the loop, with the loop in hand.
    package typealias Letter = @Sendable (UVLoop) -> Void

    private struct Inbox: ~Copyable {
        var jobs = JobList()
        var letters: [Letter] = []
        /// nil once the loop has ended.
        var wakeUp: UnsafeMutablePointer<uv_async_t>?

        /// Whether the loop has been told and has not looked yet.
        var hasRung = false

        /// Tells the loop, once for all that comes until it looks: the one thing that libuv allows
        /// from another thread. False if libuv would not; then the next one to write tries again.
        mutating func ring() -> Bool {
            if !hasRung { hasRung = tributary_uv_async_send(wakeUp) >= 0 }
            return hasRung
        }
    }

    private let inbox: Guarded<Inbox>
    private let thread = uv_thread_self()
    private let isOpen = Atomic(false)
    private let turn: Turn
    /// nil once the loop has ended. Not `weak`: that would make every retain of the loop a slow one.
    private unowned(unsafe) var loop: UVLoop?

    /// On the loop's thread.
    init(turn: Turn) {
        self.turn = turn
        inbox = Guarded(Inbox())
    }

    func open(_ loop: UVLoop, wakeUp: UnsafeMutablePointer<uv_async_t>) {
        self.loop = loop
        inbox.withLock { $0.wakeUp = wakeUp }
        isOpen.store(true, ordering: .releasing)
    }

    /// Refuses what comes from other threads; the loop's own handlers may still come to an end.
    func refuse() { inbox.withLock { $0.wakeUp = nil } }

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
            turn.append(job)
            return
        }
        var parcel: PromiseJob? = consume job
        inbox.withLock { inbox in
            guard inbox.wakeUp != nil, let job = parcel.take() else { return }
            inbox.jobs.append(job)
            _ = inbox.ring()
        }
    }

    /// Has the loop read `letter`, soon, inside a turn of its own; false if the loop has ended or
    /// cannot be woken: then it will never be read.
    @discardableResult
    package func post(_ letter: @escaping Letter) -> Bool {
        inbox.withLock { inbox in
            guard inbox.wakeUp != nil else { return false }
            let isTold = inbox.ring()
            if isTold { inbox.letters.append(letter) }
            return isTold
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

    /// Empties the inbox: jobs to the turn, letters to the loop.
    func deliver() {
        guard let loop else { return }
        var letters: [Letter] = []
        inbox.withLock { inbox in
            inbox.hasRung = false
            var jobs = JobList()
            swap(&jobs, &inbox.jobs)
            turn.append(contentsOf: jobs)
            swap(&letters, &inbox.letters)
        }
        loop.finishCallback()
        for letter in letters {
            letter(loop)
            loop.finishCallback()
        }
    }
}
