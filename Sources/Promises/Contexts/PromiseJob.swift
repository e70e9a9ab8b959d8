/// A turn that somebody is waiting for: hand it to your queue and call `run()` once, on the context
/// it was given to.
///
/// No allocation stands behind it: it is one counted reference. A timer's job may be dropped, which
/// is how a timer is cancelled. A job from `enqueue` must be run: dropping it leaks what it would
/// have run, because its closures may only die on their own context.
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
    static func job(on home: Home, _ body: @escaping (Node) -> Void) -> PromiseJob {
        PromiseJob(Node.make(Void.self, home: home, step: body))
    }

    /// Takes the turn: runs one handler, now, on this thread, which must be the context's. What it
    /// makes ready is enqueued, not run. Cancelled meanwhile, the turn does nothing.
    public consuming func run() {
        let node = release()
        Running.loop { $0.turn(of: node) }
    }

    /// The turn as a closure, which holds the counted reference and nothing else. Dropping it drops
    /// the turn.
    package consuming func action() -> () -> Void {
        let object = release().take().object
        return { Node(object).run() }
    }

    /// The counted reference; the job is gone.
    @inlinable
    consuming func release() -> NodeRef {
        let node = node
        discard self
        return node
    }

    @inlinable
    deinit {
        if isTimer { node.release() }
    }
}

/// Jobs in the order in which they came. Grows without allocating.
///
/// For the letter box of a context: fill it under a lock, take it out, give it to the `Turn`.
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
