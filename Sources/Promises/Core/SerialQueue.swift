import Synchronization

/// Runs jobs one at a time and in order on the threads that `submit` provides.
package final class SerialQueue: Sendable {
    /// How many jobs one run takes before other work gets the thread.
    private static let jobsPerRun = 1_000

    private let inbox = Inbox()
    /// Jobs that were added, less those that were run. The caller that makes it 1 submits a run.
    private let backlog = Atomic(0)
    /// The thread that runs jobs now. Not a task-local value: a task that a handler starts would
    /// inherit it.
    private let runningThread = Atomic<UInt>(0)

    // Accessed by the current run only; there is one at a time.
    nonisolated(unsafe) private let readyQueue = ReadyQueue()
    private let submit: @Sendable (_ body: @escaping @Sendable () -> Void) -> Void

    /// - Parameter submit: runs a body soon on a thread, never inside the call.
    package init(_ submit: @escaping @Sendable (_ body: @escaping @Sendable () -> Void) -> Void) {
        self.submit = submit
    }

    /// Whether the caller is a job of this queue.
    package var isCurrent: Bool { runningThread.load(ordering: .relaxed) == ThreadID.current.raw }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    package func enqueue(_ job: consuming PromiseJob) {
        _ = inbox.append(job)
        if backlog.add(1, ordering: .acquiringAndReleasing).oldValue == 0 { submitRun() }
    }

    private func submitRun() {
        submit { [self] in
            let count = runJobs()
            if backlog.subtract(count, ordering: .acquiringAndReleasing).newValue > 0 {
                submitRun()
            }
        }
    }

    /// Runs the queued jobs, and those that they make ready, up to a limit; returns their number.
    private func runJobs() -> Int {
        runningThread.store(ThreadID.current.raw, ordering: .relaxed)
        defer { runningThread.store(0, ordering: .relaxed) }
        var count = 0
        var latest = 0
        repeat {
            unsafe readyQueue.append(contentsOf: inbox.takeAll())
            latest = unsafe readyQueue.runJobs(atMost: SerialQueue.jobsPerRun - count)
            count += latest
        } while latest > 0
        return count
    }
}
