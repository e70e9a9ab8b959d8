/// One unit of work of a context: append it to your queue and call `run()` once, on the context
/// that received it.
///
/// A job is one counted reference and allocates nothing. A timer's job may be dropped, which
/// cancels the timer. A job from `enqueue` must be run: dropping it leaks its closures, because
/// they may be destroyed only on their own context.
@frozen
public struct PromiseJob: ~Copyable, Sendable {
    @usableFromInline let node: NodeRef
    @usableFromInline let isTimer: Bool

    @inlinable
    init(owned node: NodeRef, isTimer: Bool) {
        self.node = node
        self.isTimer = isTimer
    }

    init(_ node: Node, isTimer: Bool = false) {
        self.init(owned: NodeRef(retaining: node), isTimer: isTimer)
    }

    /// A job that is only a closure.
    static func job(on placement: Placement, _ body: @escaping (Node) -> Void) -> PromiseJob {
        PromiseJob(Node.make(Void.self, placement: placement, step: body))
    }

    /// Runs one handler, now, on this thread, which must be the context's. What it makes ready is
    /// enqueued, not run. Does nothing if the handler's promise was cancelled meanwhile.
    ///
    /// A timer's job may be run from any thread: outside of its context it is enqueued there.
    public consuming func run() {
        let isTimer = isTimer
        let node = releaseUnlisted()
        if isTimer {
            let placement = node.with { $0.placement }
            guard placement.context.isCurrent else {
                return placement.context.enqueue(.job(on: placement) { _ in node.take().runStep() })
            }
        }
        HandlerLoop.enter { $0.runHandlers(of: node) }
    }

    /// The job as a closure for a timer that calls it on the context. The closure holds only the
    /// counted reference; dropping the closure drops the job.
    package consuming func action() -> () -> Void {
        let object = releaseUnlisted().take().object
        return { Node(object).runStep() }
    }

    /// Consumes the job; returns the counted reference of a node that may be put into a list.
    ///
    /// A timer's node is a link that waits in its parent's list, or is already in the ready queue,
    /// and a node is in one list at most. So this makes a separate node for a timer's job.
    @inlinable
    consuming func release() -> NodeRef {
        let isTimer = isTimer
        let node = releaseUnlisted()
        return isTimer ? PromiseJob.listed(timer: node) : node
    }

    /// Consumes the job; returns the counted reference of a node that must not be put into a list.
    @inlinable
    consuming func releaseUnlisted() -> NodeRef {
        let node = node
        discard self
        return node
    }

    /// A node whose step runs a timer's job, on any context.
    @usableFromInline
    static func listed(timer: NodeRef) -> NodeRef {
        let placement = timer.with { $0.placement }
        let step: (Node) -> Void = { _ in PromiseJob(owned: timer, isTimer: true).run() }
        return NodeRef(retaining: .make(Void.self, placement: placement, step: step))
    }

    @inlinable
    deinit {
        if isTimer { PromiseJob.drop(timer: node) }
    }

    /// Releases a timer's node; a confined one on its own thread, because this may be the last
    /// reference to it and to its closures.
    @usableFromInline
    static func drop(timer: NodeRef) {
        let placement = timer.with { $0.placement }
        if placement.isConfined, !placement.context.isCurrent {
            placement.context.enqueue(.job(on: placement) { _ in timer.release() })
        } else {
            timer.release()
        }
    }
}

/// A list of jobs in the order in which they were added. Grows without allocating.
///
/// For the inbox of a context: fill it under a lock, take it out, and append it to the
/// `ReadyQueue`.
public struct JobList: ~Copyable, Sendable {
    @usableFromInline var first: NodeRef?
    @usableFromInline var last: NodeRef?

    /// An empty list, which allocates nothing.
    @inlinable
    public init() {
        first = nil
        last = nil
    }

    init(_ ends: (first: NodeRef?, last: NodeRef?)) {
        (first, last) = ends
    }

    /// Whether there is nothing to run.
    @inlinable
    public var isEmpty: Bool { first == nil }

    /// Adds a job behind the others; does not run it.
    @inlinable
    public mutating func append(_ job: consuming PromiseJob) {
        append(job.release())
    }

    @inlinable
    mutating func append(_ node: NodeRef) {
        node.next = nil
        if let last { last.next = node } else { first = node }
        last = node
    }

    /// Adds another list behind this one, in its order.
    @inlinable
    public mutating func append(contentsOf other: consuming JobList) {
        guard let head = other.first else { return }
        if let last { last.next = head } else { first = head }
        last = other.last
    }

    /// Takes the oldest job, which must then be run; nil when there is none.
    @inlinable
    public mutating func popFirst() -> PromiseJob? {
        popNode().map { PromiseJob(owned: $0, isTimer: false) }
    }

    @inlinable
    mutating func popNode() -> NodeRef? {
        guard let node = first else { return nil }
        first = node.next
        if first == nil { last = nil }
        return node
    }
}
