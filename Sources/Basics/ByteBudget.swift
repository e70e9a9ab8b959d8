/// What one core may hold in memory for others at once, in bytes: requests and answers that are
/// there in part or whole, what clients sent ahead, what they have not read yet.
///
/// Every limit of a single message multiplies with the number of messages; this bounds the sum.
/// Whoever cannot take asks nobody to wait: load is shed. Confined to its core.
package final class ByteBudget {
    /// How many bytes more may be held; below zero where more is held than may be. Asked for several
    /// times a request, so unchecked: a plain number, no access of which calls anybody.
    @exclusivity(unchecked) private var room: Int

    /// Another one from now on; what is held stays.
    package var limit: Int {
        didSet { unsafe room += limit - oldValue }
    }

    package init(limit: Int) {
        self.limit = limit
        unsafe room = limit
    }

    package var held: Int { unsafe limit - room }

    /// Whether there is no room for another byte.
    package var isExhausted: Bool { unsafe room <= 0 }

    /// Holds so many more bytes; false, and nothing is held, where they are too many.
    package func take(_ count: Int) -> Bool {
        let left = unsafe room - count
        guard left >= 0 else { return false }
        unsafe room = left
        return true
    }

    /// Holds so many more bytes, or fewer, that nobody asked before they were there.
    package func adjust(by count: Int) {
        unsafe room -= count
    }

    package func give(_ count: Int) {
        unsafe room += count
    }
}
