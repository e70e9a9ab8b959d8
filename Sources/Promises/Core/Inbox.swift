import Synchronization

/// The inbox of a context: any thread adds jobs, the context's thread takes them out.
///
/// A lock-free stack that the reader reverses; it allocates nothing. One reader only. An inbox that
/// is released with jobs in it leaks them.
public final class Inbox: Sendable {
    private let newest = Atomic<UInt>(0)

    /// An empty inbox.
    public init() {}

    /// Adds a job behind those that wait already. Called from any thread.
    ///
    /// - Returns: whether the inbox was empty, so that its reader must be woken.
    public func append(_ job: consuming PromiseJob) -> Bool {
        let node = job.release()
        var old = newest.load(ordering: .relaxed)
        while true {
            node.next = NodeRef(stack: old)
            let (exchanged, found) = newest.weakCompareExchange(
                expected: old, desired: node.bits, successOrdering: .releasing,
                failureOrdering: .relaxed)
            if exchanged { return old == 0 }
            old = found
        }
    }

    /// Takes everything out, oldest first: for the `ReadyQueue` of the context. Called by its
    /// reader.
    public func takeAll() -> JobList {
        if newest.load(ordering: .relaxed) == 0 { return JobList() }
        let stack = newest.exchange(0, ordering: .acquiring)
        return JobList(NodeRef.reversed(NodeRef(stack: stack)))
    }
}
