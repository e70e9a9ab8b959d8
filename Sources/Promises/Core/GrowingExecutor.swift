#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Swift's global executor, with more threads while `wait` blocks some of them.
///
/// The global executor has one thread per processor and adds none for threads that block: with all
/// of them in `wait`, nothing would run that ends a wait. While a thread waits, jobs therefore run
/// on threads of a `BlockingPool`, also those for which the global executor has not found a thread.
/// The thread may be any: the library cannot detect what else blocks the global executor.
final class GrowingExecutor: ExecutionContext, TaskExecutor {
    static let shared = GrowingExecutor()

    private let state = Guarded(State())
    private let ownThreads = BlockingPool(threads: max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))))

    private struct State: ~Copyable, Sendable {
        /// The jobs for which a task was started, and that no thread has begun.
        var jobs = JobList()
        /// The number of threads that `wait` blocks.
        var waitingThreads = 0
    }

    private init() {}

    /// False: jobs run at the same time.
    var isSerial: Bool { false }

    /// False: a job does not keep the other jobs from running.
    var isCurrent: Bool { false }

    /// Runs the job soon. Called from any thread.
    func enqueue(_ job: consuming PromiseJob) {
        let node = job.release()
        let isGrown = state.withLock { state in
            if state.waitingThreads > 0 { return true }
            state.jobs.append(node)
            return false
        }
        guard !isGrown else {
            return ownThreads.enqueue(PromiseJob(owned: node, isTimer: false))
        }
        // Detached: jobs must not see the task-local values, or run with the priority, of the task
        // that enqueues them.
        Task.detached { [self] in
            if let job = state.withLock({ $0.jobs.popFirst() }) { job.run() }
        }
    }

    /// Runs the body soon. Called from any thread.
    func enqueue(_ body: @escaping @Sendable () -> Void) {
        enqueue(.job(on: .context(SharedPool.shared)) { _ in body() })
    }

    /// Runs a job of a task soon: `async` work whose promise has no context of its own.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs the job after a delay. Called from any thread, and so is `cancel` of what it returns.
    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }

    /// Calls a body that blocks its thread until a promise is settled.
    func whileBlocking(_ body: () -> Void) {
        var jobs = state.withLock { state in
            state.waitingThreads += 1
            var jobs = JobList()
            swap(&state.jobs, &jobs)
            return jobs
        }
        while let job = jobs.popFirst() { ownThreads.enqueue(job) }
        body()
        state.withLock { $0.waitingThreads -= 1 }
    }
}
