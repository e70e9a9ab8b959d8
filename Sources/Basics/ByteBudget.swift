/// What one core may hold in memory for others at once, in bytes: requests and answers that are
/// there in part or whole, what clients sent ahead, what they have not read yet.
///
/// Every limit of a single message multiplies with the number of messages; this bounds the sum.
/// There is no queueing: when the budget is exhausted, load is shed. Above three quarters of the
/// limit the owner is called to free memory first (`reclaim`). Confined to its worker.
package final class ByteBudget {
    /// How many more bytes may be held; negative if more is held than allowed. Read several
    /// times a request, so unchecked: a plain number, no access of which calls anybody.
    @exclusivity(unchecked) private var room: Int
    /// With less room than this, memory is reclaimed.
    @exclusivity(unchecked) private var reserve: Int
    private var isReclaiming = false

    /// Frees memory: called when little room is left, and before bytes are refused. It may call
    /// `give` and `adjust`.
    package var reclaim: ((Need) -> Void)?

    /// Why memory is reclaimed.
    package enum Need: Sendable, Equatable {
        /// More than three quarters of the limit are held.
        case short
        /// So many bytes will be refused unless there is room for them.
        case room(Int)
    }

    /// Another one from now on; what is held stays.
    package var limit: Int {
        didSet {
            unsafe room += limit - oldValue
            unsafe reserve = limit / 4
        }
    }

    package init(limit: Int) {
        self.limit = limit
        unsafe room = limit
        unsafe reserve = limit / 4
    }

    package var held: Int { unsafe limit - room }

    /// Whether there is no room for another byte.
    package var isExhausted: Bool { unsafe room <= 0 }

    /// Whether more than three quarters of the limit would be held with so many bytes more.
    package func isShort(with count: Int) -> Bool {
        unsafe room - count < reserve
    }

    /// Whether so many bytes more fit.
    package func fits(_ count: Int) -> Bool {
        unsafe room - count >= 0
    }

    /// Holds so many more bytes; false, and nothing is held, where they are too many.
    package func take(_ count: Int) -> Bool {
        if isShort(with: count) { reclaimMemory(fits(count) ? .short : .room(count)) }
        let left = unsafe room - count
        guard left >= 0 else { return false }
        unsafe room = left
        return true
    }

    /// Holds so many more bytes, or fewer, which already exist.
    package func adjust(by count: Int) {
        unsafe room -= count
        if count > 0, isShort(with: 0) { reclaimMemory(.short) }
    }

    package func give(_ count: Int) {
        unsafe room += count
    }

    /// Whether another byte can be held, after memory has been reclaimed if necessary.
    package func hasRoom() -> Bool {
        if isExhausted { reclaimMemory(.room(1)) }
        return !isExhausted
    }

    private func reclaimMemory(_ need: Need) {
        guard let reclaim, !isReclaiming else { return }
        isReclaiming = true
        reclaim(need)
        isReclaiming = false
    }
}
