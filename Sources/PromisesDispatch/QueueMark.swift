import Dispatch

/// Detects whether the caller runs on a queue.
///
/// Each mark has a key of its own, so that two marks of one queue, or of queues that target each
/// other, do not hide each other. The queue stores the address of the key, so the mark removes it
/// at its end.
final class QueueMark: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: true)
    }

    deinit { queue.setSpecific(key: key, value: nil) }

    /// Whether the caller is a block of the queue, or of a queue that targets it.
    var isOnQueue: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
