import Synchronization

/// The context of promises that were given none: Swift's global executor, one job at a time.
///
/// It keeps the order that a context owes; work that should run in parallel brings its own context.
public final class SharedPool: ExecutionContext {
    /// The one pool of the process.
    public static let shared = SharedPool()

    /// Jobs before others get the executor's thread.
    private static let jobsPerTask = 1_000

    private let inbox = Inbox()
    /// Jobs that were put in, less those that were run. Whoever makes it 1 starts a task.
    private let backlog = Atomic(0)

    // The running task's: there is one at a time.
    nonisolated(unsafe) private let turn = Turn()
    @TaskLocal private static var isOnPool = false

    /// Whether the caller runs on this context.
    public var isCurrent: Bool { SharedPool.isOnPool }

    /// Runs the job soon, behind those that wait already.
    public func enqueue(_ job: consuming PromiseJob) {
        _ = inbox.append(job)
        if backlog.add(1, ordering: .acquiringAndReleasing).oldValue == 0 { start() }
    }

    /// Runs the job after a delay.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }

    private func start() {
        Task {
            let count = SharedPool.$isOnPool.withValue(true) { run() }
            if backlog.subtract(count, ordering: .acquiringAndReleasing).newValue > 0 { start() }
        }
    }

    /// Runs what is there, up to a bound, and counts it.
    private func run() -> Int {
        unsafe turn.append(contentsOf: inbox.takeAll())
        return unsafe turn.run(atMost: SharedPool.jobsPerTask)
    }
}

/// A job that sleeps in a task until its time has come.
struct PoolTimer: Cancellable {
    private let job: TimedJob
    private let sleeper: Task<Void, Never>

    init(_ job: consuming PromiseJob, after delay: Duration, on context: any ExecutionContext) {
        let job = TimedJob(job)
        self.job = job
        sleeper = Task {
            try? await Task.sleep(for: max(delay, .zero))
            if let job = job.take() { context.enqueue(job) }
        }
    }

    func cancel(because cause: (any Error)?) {
        _ = job.take()
        sleeper.cancel()
    }
}
