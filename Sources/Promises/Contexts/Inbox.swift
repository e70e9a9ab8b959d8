import Synchronization

/// The letter box of a context: any thread puts jobs in, the context's thread takes them out.
public final class Inbox: Sendable {
    private let jobs = Mutex(JobList())

    /// Empty.
    public init() {}

    /// Puts a job in.
    ///
    /// - Returns: whether the box was empty, so that its reader must be woken.
    public func append(_ job: consuming PromiseJob) -> Bool {
        let node = job.release()
        return jobs.withLock {
            let wasEmpty = $0.isEmpty
            $0.append(node)
            return wasEmpty
        }
    }

    /// Takes everything out.
    public func takeAll() -> JobList {
        jobs.withLock { $0.takeAll() }
    }
}
