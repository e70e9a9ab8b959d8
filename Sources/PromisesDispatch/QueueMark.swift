import Dispatch

/// Detects whether the caller runs on a queue.
///
/// Each mark has a key of its own, so that two marks of one queue, or of queues that target each
/// other, do not hide each other. The queue stores the address of the key, so the mark removes it
/// at its end.
final class QueueMark: Sendable {
    /// Nil for a global queue: a blocked thread does not keep it from running other blocks. Swift's
    /// global executor targets one, so that each task would seem to block it.
    private let queue: DispatchQueue?
    private let key = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        let isGlobal = queue.label.hasPrefix("com.apple.root.")
        self.queue = isGlobal ? nil : queue
        self.queue?.setSpecific(key: key, value: true)
    }

    deinit { queue?.setSpecific(key: key, value: nil) }

    /// Whether the caller is a block of the queue, or of a queue that targets it.
    var isOnQueue: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
