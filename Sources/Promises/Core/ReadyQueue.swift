/// The ready queue of one thread: first in, first out, drained in a loop and never nested.
///
/// An event loop owns one and drains it after every callback, as Node.js drains its microtasks.
/// Confined to its thread.
public final class ReadyQueue {
    @exclusivity(unchecked) @usableFromInline var ready = JobList()

    /// An empty queue, for the thread that will drain it.
    public init() {}

    /// Whether no job is waiting.
    @inlinable
    public var isEmpty: Bool { unsafe ready.isEmpty }

    /// Adds a job behind the others; does not run it.
    @inlinable
    public func append(_ job: consuming PromiseJob) {
        unsafe ready.append(job)
    }

    /// Adds the jobs of an inbox behind the others, in their order; runs none.
    @inlinable
    public func append(contentsOf jobs: consuming JobList) {
        unsafe ready.append(contentsOf: jobs)
    }

    @inlinable
    func append(_ node: NodeRef) {
        unsafe ready.append(node)
    }

    /// Runs what is ready, and what becomes ready meanwhile, up to a limit so that sockets are not
    /// starved.
    ///
    /// Called on the thread of the queue, by its event loop and not by a handler.
    ///
    /// - Parameter limit: how many jobs are run at most.
    /// - Returns: whether there is work left.
    @discardableResult
    public func drain(atMost limit: Int = .max) -> Bool {
        if !isEmpty { _ = runJobs(atMost: limit) }
        return !isEmpty
    }

    /// Runs what is ready, and returns the number of jobs.
    func runJobs(atMost limit: Int) -> Int {
        var count = 0
        HandlerLoop.enter { loop in
            while count < limit, let node = unsafe ready.popNode() {
                loop.runHandlers(of: node)
                count += 1
            }
        }
        return count
    }
}
