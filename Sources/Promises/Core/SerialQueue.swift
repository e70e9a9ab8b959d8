import Synchronization

/// Runs jobs one at a time and in order on threads of another executor, on
/// whichever thread `submit` provides.
package final class SerialQueue: Sendable {
    /// Jobs before others get the thread.
    private static let jobsPerVisit = 1_000

    private let inbox = Inbox()
    /// Jobs that were put in, less those that were run. The caller that makes it 1 requests a
    /// thread.
    private let backlog = Atomic(0)
    /// The thread that runs jobs now. Not a task-local value: a task that a handler begins would
    /// inherit it.
    private let runner = Atomic<UInt>(0)

    // The visiting thread's: there is one at a time.
    nonisolated(unsafe) private let readyQueue = ReadyQueue()
    private let submit: @Sendable (_ body: @escaping @Sendable () -> Void) -> Void

    /// - Parameter submit: runs a body soon on a thread, never inside the call.
    package init(_ submit: @escaping @Sendable (_ body: @escaping @Sendable () -> Void) -> Void) {
        self.submit = submit
    }

    /// Whether a job of this serialQueue is the caller.
    package var isCurrent: Bool { runner.load(ordering: .relaxed) == ThreadID.current.raw }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    package func enqueue(_ job: consuming PromiseJob) {
        _ = inbox.append(job)
        if backlog.add(1, ordering: .acquiringAndReleasing).oldValue == 0 { start() }
    }

    private func start() {
        submit { [self] in
            let count = run()
            if backlog.subtract(count, ordering: .acquiringAndReleasing).newValue > 0 { start() }
        }
    }

    /// Runs what is there, and what it makes ready, up to a bound; counts it.
    private func run() -> Int {
        runner.store(ThreadID.current.raw, ordering: .relaxed)
        defer { runner.store(0, ordering: .relaxed) }
        var count = 0
        var latest = 0
        repeat {
            unsafe readyQueue.append(contentsOf: inbox.takeAll())
            latest = unsafe readyQueue.run(atMost: SerialQueue.jobsPerVisit - count)
            count += latest
        } while latest > 0
        return count
    }
}
