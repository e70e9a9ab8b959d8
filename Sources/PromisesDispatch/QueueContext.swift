public import Dispatch
public import Promises

/// A dispatch queue as a context: handlers run on the queue, one at a time and in order, even if
/// the queue is concurrent.
///
///     let disk = QueueContext(DispatchQueue(label: "disk"))
///     promise.map(on: disk) { name in try read(name) }
///
/// Jobs that are ready together share one block of the queue; after 1,000 of them, other blocks of
/// the queue run. A separate module, so that `Promises` does not need Dispatch.
public final class QueueContext: ExecutionContext {
    /// Where the handlers run.
    public let queue: DispatchQueue

    private let serialQueue: SerialQueue
    private let mark: QueueMark

    /// A context on a queue. Two contexts on one concurrent queue have no order between them.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        serialQueue = SerialQueue { body in queue.async(execute: body) }
        mark = QueueMark(queue)
    }

    /// Whether the caller is a handler on this context; false for other blocks of the queue.
    public var isCurrent: Bool { serialQueue.isCurrent }

    /// Whether the caller is a handler on this context or another block of the queue, also of a
    /// queue that targets it. Dispatch cannot report whether a queue is serial, so this is true in
    /// blocks of concurrent queues as well; on global queues it is true for handlers only.
    public var isBlockedByCaller: Bool { serialQueue.isCurrent || mark.isOnQueue }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    public func enqueue(_ job: consuming PromiseJob) { serialQueue.enqueue(job) }

    /// Runs the job after a delay, by a timer of the queue. Called from any thread, and so is
    /// `cancel` of what it returns, which frees the timer at once.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        QueueTimer(job, after: delay, on: self)
    }

    fileprivate static let onMain = QueueContext(.main)
}

extension ExecutionContext where Self == QueueContext {
    /// Handlers run on the main queue. Only `on:` selects it. The main thread must run its queue,
    /// by `dispatchMain()`, a run loop or an `async` main function.
    public static var main: QueueContext { .onMain }
}
