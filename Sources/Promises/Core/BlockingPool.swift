#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Threads for work that blocks: files, locks, blocking libraries. Runs as many jobs at a time as
/// it has threads; further jobs wait in order.
///
///     Promise(on: .blocking) { try readFile(path) }
///         .map(on: .inline) { parse($0) }
///
/// The pool starts a thread when a job finds none idle, up to its limit, and ends a thread that has
/// been idle for ten seconds. A thread that `wait` blocks does not count towards the limit. It is
/// not serial: handlers of one promise may run at the same time. Links inherit it like any context;
/// `hop(to:)` and `on:` select another one.
public final class BlockingPool: ExecutionContext {
    /// The shared pool of the process, with up to 64 threads; `.blocking` is its short form where
    /// an `ExecutionContext` is expected.
    public static let shared = BlockingPool(threads: 64)

    /// How many jobs may run at the same time, without those that `wait` blocks.
    public let limit: Int

    /// The pool of the calling thread.
    private static let current = ThreadLocal()

    private let idleTime: Duration
    private let work = Monitor(State())

    private struct State: ~Copyable, Sendable {
        var jobs = JobList()
        var jobCount = 0
        var idleThreads = 0
        var threads = 0

        mutating func popJob() -> PromiseJob? {
            guard let job = jobs.popFirst() else { return nil }
            jobCount -= 1
            return job
        }
    }

    /// A separate pool.
    ///
    /// - Parameter limit: how many threads it may have; at least one.
    public convenience init(threads limit: Int) {
        self.init(threads: limit, idleTime: .seconds(10))
    }

    init(threads limit: Int, idleTime: Duration) {
        self.limit = max(1, limit)
        self.idleTime = idleTime
    }

    /// False: jobs run at the same time.
    public var isSerial: Bool { false }

    /// False: a job of this pool does not keep its other jobs from running.
    public var isCurrent: Bool { false }

    /// The current number of threads.
    var threadCount: Int { work.withLock { $0.threads } }

    /// The number of threads that wait for a job.
    var idleThreadCount: Int { work.withLock { $0.idleThreads } }

    /// Runs the job soon on a thread of the pool. Called from any thread.
    public func enqueue(_ job: consuming PromiseJob) {
        let node = job.release()
        let needsThread = work.withLock { work in
            work.jobs.append(PromiseJob(owned: node, isTimer: false))
            work.jobCount += 1
            guard work.jobCount > work.idleThreads, work.threads < limit else { return false }
            work.threads += 1
            return true
        }
        if needsThread { startThread() } else { work.signal() }
    }

    /// Runs the job after a delay on the clock of the system. Called from any thread, and so is
    /// `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }

    // MARK: Threads.

    private func startThread() {
        if DetachedThread.start({ [self] in runJobs() }) { return }
        // The system cannot start a thread: a thread of Swift's executor runs the waiting jobs, so
        // that none is lost.
        Task.detached { [self] in runJobs(isOwnThread: false) }
    }

    /// Runs jobs until the thread has been idle for too long.
    private func runJobs(isOwnThread: Bool = true) {
        unsafe BlockingPool.current.pointer = Unmanaged.passUnretained(self).toOpaque()
        defer { unsafe BlockingPool.current.pointer = nil }
        while let job = nextJob(mayWait: isOwnThread) { job.run() }
    }

    /// Calls a body that blocks its thread until a promise is settled. Other threads replace this
    /// one meanwhile, in its pool or in Swift's global executor, so that the jobs that end the wait
    /// run.
    static func whileBlocking(_ body: () -> Void) {
        guard let current = unsafe current.pointer else {
            return GrowingExecutor.shared.whileBlocking(body)
        }
        let pool = unsafe Unmanaged<BlockingPool>.fromOpaque(current).takeUnretainedValue()
        let needsThread = pool.work.withLock { work in
            work.threads -= 1
            guard work.jobCount > work.idleThreads, work.threads < pool.limit else { return false }
            work.threads += 1
            return true
        }
        if needsThread { pool.startThread() }
        GrowingExecutor.shared.whileBlocking(body)
        pool.work.withLock { $0.threads += 1 }
    }

    /// The oldest job; nil if the thread must end. The thread is then no longer counted.
    private func nextJob(mayWait: Bool) -> PromiseJob? {
        var isIdle = false
        let next = work.wait(atMost: idleTime) { work, isLast -> NodeRef?? in
            if isIdle {
                work.idleThreads -= 1
            } else if work.threads > limit {
                // Another thread replaced this one while `wait` blocked it.
                work.threads -= 1
                return .some(nil)
            }
            isIdle = false
            if let job = work.popJob() { return .some(job.release()) }
            guard mayWait, !isLast else {
                work.threads -= 1
                return .some(nil)
            }
            isIdle = true
            work.idleThreads += 1
            return nil
        }
        return next.flatMap { $0 }.map { PromiseJob(owned: $0, isTimer: false) }
    }
}

extension ExecutionContext where Self == BlockingPool {
    /// Handlers run in parallel on threads that may block; see `BlockingPool`.
    public static var blocking: BlockingPool { .shared }
}
