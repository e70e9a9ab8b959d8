/// The ready queue of one thread: first in, first out, drained in a loop and never nested.
///
/// An event loop owns one and drains it after every callback, as Node drains its microtasks. It
/// belongs to its thread: touch it from there only.
public final class ReadyQueue {
    @exclusivity(unchecked) @usableFromInline var ready = JobList()

    /// An empty queue, for the thread that will drain it.
    public init() {}

    /// Whether nothing is waiting for its turn.
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

    /// Runs what is ready, and what becomes ready meanwhile, up to a bound so that sockets are not
    /// starved.
    ///
    /// Called on the thread of the queue, by its loop and not by a handler.
    ///
    /// - Parameter limit: how many jobs are run at most.
    /// - Returns: whether there is work left.
    @discardableResult
    public func drain(atMost limit: Int = .max) -> Bool {
        if !isEmpty { _ = run(atMost: limit) }
        return !isEmpty
    }

    /// Runs what is ready, and counts it.
    func run(atMost limit: Int) -> Int {
        var count = 0
        Running.loop { running in
            while count < limit, let node = unsafe ready.popNode() {
                running.runHandlers(of: node)
                count += 1
            }
        }
        return count
    }
}
