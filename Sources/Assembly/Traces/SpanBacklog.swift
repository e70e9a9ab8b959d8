import Synchronization

/// The number of spans between the workers that record them and the collector that receives them:
/// bounds their memory, whatever the collector does. One per process, used by all threads.
package final class SpanBacklog: Sendable {
    private let spans = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let limit: Int

    /// 16384: the spans of a second or more of a busy gateway. All texts of a request are limited, so
    /// each takes 2 KiB at most, and usually far less.
    package init(limit: Int = 16_384) {
        self.limit = limit
    }

    /// The spans that are held now.
    package var count: Int { spans.load(ordering: .relaxed) }

    /// The spans that found the backlog full, since the start of the process.
    package var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// Counts spans that are recorded now; false if they must be dropped, because the backlog is full.
    func reserve(_ count: Int) -> Bool {
        let sum = spans.add(count, ordering: .relaxed).newValue
        guard sum > limit else { return true }
        spans.subtract(count, ordering: .relaxed)
        refused.add(count, ordering: .relaxed)
        return false
    }

    /// The spans were delivered, or dropped.
    package func release(_ count: Int) { spans.subtract(count, ordering: .relaxed) }
}
