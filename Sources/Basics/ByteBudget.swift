/// What one core may hold in memory for others at once, in bytes: requests and answers that are
/// there in part or whole, what clients sent ahead, what they have not read yet.
///
/// Every limit of a single message multiplies with the number of messages; this bounds the sum.
/// Whoever cannot take asks nobody to wait: load is shed. Confined to its core.
package final class ByteBudget {
    /// Another one from now on; what is held stays.
    package var limit: Int

    package private(set) var held = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether there is no room for another byte.
    package var isExhausted: Bool { held >= limit }

    /// Holds so many more bytes; false, and nothing is held, where they are too many.
    package func take(_ count: Int) -> Bool {
        guard count <= limit - held else { return false }
        held += count
        return true
    }

    /// Holds so many more bytes, or fewer, that nobody asked before they were there.
    package func adjust(by count: Int) {
        held += count
    }

    package func give(_ count: Int) {
        held -= count
    }
}
