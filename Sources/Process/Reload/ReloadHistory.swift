import Assembly

/// The results of the reloads: the last one, and how many there were.
struct ReloadHistory {
    private(set) var status: ReloadStatus
    private(set) var counts = ReloadCounts()
    /// Errors and warnings of the reload in progress, as the log has them.
    var problems: [String] = []
    /// The last reload changed nothing.
    private(set) var hasFailed = false

    /// - Parameter now: in nanoseconds since 1970
    init(startedAt now: Int64) {
        status = ReloadStatus(loadedAt: now)
        counts.loadedAt = now
    }

    /// A reload begins.
    mutating func begin() { problems = [] }

    /// The keys of the last configuration that was read whose values need a restart.
    mutating func noteRestart(for keys: [String]) { status.keysThatNeedRestart = keys }

    /// A reload has ended.
    ///
    /// - Parameter now: in nanoseconds since 1970
    mutating func record(_ outcome: ReloadOutcome, at now: Int64) {
        hasFailed = if case .done = outcome { false } else { true }
        let result: ReloadStatus.Result
        switch outcome {
        case .done:
            result = .succeeded
            counts.succeeded += 1
            status.loadedAt = now
            counts.loadedAt = now
        case .failed:
            result = .failed
            counts.failed += 1
        case .refused(let workers):
            result = .refused
            counts.failed += 1
            problems = [WorkerMonitor.silence(of: workers)]
        case .impossible: return
        }
        counts.isLastSuccessful = result == .succeeded
        status.last = ReloadStatus.Reload(result, endedAt: now, problems: problems)
    }
}

/// The number of reloads, by result, and when the present configuration was loaded.
struct ReloadCounts: Sendable {
    var succeeded = 0
    var failed = 0
    /// The last reload, or the start.
    var isLastSuccessful = true
    /// When the present configuration was loaded, in nanoseconds since 1970.
    var loadedAt: Int64 = 0
}

/// The result of a reload.
enum ReloadOutcome: Sendable {
    case done
    /// The last good configuration stays in use; the log has the reason.
    case failed
    /// These workers do not answer and could not install it, so no worker receives it.
    case refused(silentWorkers: [Int])
    /// There is no file to read, or the process does not serve.
    case impossible
}

extension WorkerMonitor {
    /// `worker 0 does not answer`
    static func silence(of workers: [Int]) -> String {
        let list = workers.map { "\($0)" }.joined(separator: ", ")
        return workers.count == 1
            ? "worker \(list) does not answer" : "workers \(list) do not answer"
    }
}
