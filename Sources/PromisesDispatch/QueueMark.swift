import Dispatch

/// Knows in any block of a queue that it runs there.
///
/// One key for each mark: two marks of one queue, or of queues that target each other, do not hide
/// each other. The queue knows the key by its address, so the mark takes it back at its end.
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
