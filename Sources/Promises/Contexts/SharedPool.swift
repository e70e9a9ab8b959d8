import Synchronization

/// The context of promises that were given none: Swift's global executor, one job at a time.
///
/// It keeps the order that a context owes; work that should run in parallel brings its own context.
public final class SharedPool: ExecutionContext {
    /// The one pool of the process.
    public static let shared = SharedPool()

    private struct State: ~Copyable {
        var ready = JobList()
        var isDraining = false
    }

    /// Jobs before others get the executor's thread.
    private static let jobsPerTask = 1_000

    private let state = Mutex(State())
    @TaskLocal private static var isOnPool = false

    public var isCurrent: Bool { SharedPool.isOnPool }

    public func enqueue(_ job: consuming PromiseJob) {
        let node = job.release()
        let mustStart = state.withLock {
            $0.ready.append(node)
            let wasDraining = $0.isDraining
            $0.isDraining = true
            return !wasDraining
        }
        if mustStart { start() }
    }

    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        let timer = PoolTimer(job)
        timer.start(after: delay, on: self)
        return timer
    }

    private func start() {
        Task { self.drain() }
    }

    private func drain() {
        SharedPool.$isOnPool.withValue(true) {
            for _ in 0..<SharedPool.jobsPerTask {
                guard let node = next() else { return }
                PromiseJob(owned: node, isTimer: false).run()
            }
            start()
        }
    }

    private func next() -> NodeRef? {
        state.withLock {
            let node = $0.ready.popNode()
            if node == nil { $0.isDraining = false }
            return node
        }
    }
}

/// A job that sleeps in a task until its time has come.
private final class PoolTimer: Cancellable, Sendable {
    private let job: Mutex<PromiseJob?>
    private let sleeper = Mutex<Task<Void, Never>?>(nil)

    init(_ job: consuming PromiseJob) {
        self.job = Mutex(job)
    }

    func start(after delay: Duration, on pool: SharedPool) {
        let task = Task {
            try? await Task.sleep(for: max(delay, .zero))
            if let job = job.withLock({ $0.take() }) { pool.enqueue(job) }
        }
        sleeper.withLock { $0 = task }
    }

    func cancel(because cause: (any Error)?) {
        _ = job.withLock { $0.take() }
        sleeper.withLock { $0.take() }?.cancel()
    }
}
