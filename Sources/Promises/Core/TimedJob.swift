import Synchronization

/// The job of a timer: the first caller of `take` runs it or drops it.
package final class TimedJob: Sendable {
    private let bits: Atomic<UInt>

    package init(_ job: consuming PromiseJob) {
        bits = Atomic(job.releaseUnlisted().bits)
    }

    deinit { _ = take() }

    /// Whether `take` was called.
    var isTaken: Bool { bits.load(ordering: .acquiring) == 0 }

    /// The job, for the first caller; nil for later ones.
    package func take() -> PromiseJob? {
        NodeRef(stack: bits.exchange(0, ordering: .acquiringAndReleasing))
            .map { PromiseJob(owned: $0, isTimer: true) }
    }
}
