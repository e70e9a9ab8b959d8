/// Limits the bytes that one worker buffers at a time: requests and responses in part or whole,
/// data that clients sent ahead, and data that they have not read yet.
///
/// The limit of a single message multiplies with the number of messages; the budget bounds the sum.
/// There is no queueing: when the budget is exhausted, load is shed. Above three quarters of the
/// limit, `reclaim` asks the owner to free memory first. Confined to its worker.
package final class ByteBudget {
    /// How many more bytes may be held; negative if more are held than allowed.
    private var remaining: Int
    /// Memory is reclaimed when less than this is left.
    private var lowMark: Int
    private var isReclaiming = false

    /// Frees memory: called when the budget is low, and before bytes are refused. It may call
    /// `release` and `adjust`.
    package var reclaim: ((ReclaimReason) -> Void)?

    /// Why memory is reclaimed.
    package enum ReclaimReason: Sendable, Equatable {
        /// More than three quarters of the limit are held.
        case low
        /// This many bytes will be refused unless memory is freed.
        case bytes(Int)
    }

    /// The limit in bytes. A change does not affect bytes that are held.
    package var limit: Int {
        didSet {
            remaining += limit - oldValue
            lowMark = limit / 4
        }
    }

    package init(limit: Int) {
        self.limit = limit
        remaining = limit
        lowMark = limit / 4
    }

    package var bytesHeld: Int { limit - remaining }

    /// Whether no more bytes may be held.
    package var isExhausted: Bool { remaining <= 0 }

    /// Whether more than three quarters of the limit would be held with `count` more bytes.
    package func isLow(with count: Int) -> Bool {
        remaining - count < lowMark
    }

    /// Whether `count` more bytes fit.
    package func fits(_ count: Int) -> Bool {
        remaining - count >= 0
    }

    /// Reserves bytes; false, and reserves nothing, if they do not fit.
    package func reserve(_ count: Int) -> Bool {
        if isLow(with: count) { reclaimMemory(fits(count) ? .low : .bytes(count)) }
        let left = remaining - count
        guard left >= 0 else { return false }
        assert(count >= 0 && left <= limit, "a negative count is reserved")
        remaining = left
        return true
    }

    /// Counts bytes that already exist: more of them, or fewer if `count` is negative.
    package func adjust(by count: Int) {
        remaining -= count
        assert(bytesHeld >= 0, "fewer bytes are held than none")
        if count > 0, isLow(with: 0) { reclaimMemory(.low) }
    }

    package func release(_ count: Int) {
        assert(count >= 0, "a negative count is released")
        remaining += count
        assert(bytesHeld >= 0, "more bytes are released than were held")
    }

    /// Whether another byte can be held, after reclaiming memory if necessary.
    package func hasRoom() -> Bool {
        if isExhausted { reclaimMemory(.bytes(1)) }
        return !isExhausted
    }

    private func reclaimMemory(_ reason: ReclaimReason) {
        guard let reclaim, !isReclaiming else { return }
        isReclaiming = true
        reclaim(reason)
        isReclaiming = false
    }
}
