/// A queue for a resource, first in, first out. An entry may leave early, and may have a deadline.
///
/// It reads no clock and starts no timer. Its owner removes the entries whose deadline has passed
/// (`takeExpired`), at the time that `nextDeadline` states. Used by the pool for calls that wait
/// for a connection, and by the concurrency limit for calls that wait for a permit. Every operation
/// takes constant time and, once the queue has grown to its usual size, allocates nothing.
@usableFromInline
package struct WaitQueue<Waiter> {
    /// Identifies an entry, also after it has left the queue.
    @usableFromInline
    package struct Ticket: Equatable {
        @usableFromInline let slot: Int
        /// Distinguishes the entry from earlier and later entries in the same slot.
        @usableFromInline let number: UInt64

        @inlinable
        init(slot: Int, number: UInt64) {
            self.slot = slot
            self.number = number
        }
    }

    @usableFromInline
    struct Entry {
        @usableFromInline let waiter: Waiter
        @usableFromInline let number: UInt64
        @usableFromInline let deadline: Instant?

        @inlinable
        init(_ waiter: Waiter, number: UInt64, deadline: Instant?) {
            self.waiter = waiter
            self.number = number
            self.deadline = deadline
        }
    }

    @usableFromInline var entries = SlotTable<Entry>()
    @usableFromInline var order = SlotList()
    @usableFromInline var joined: UInt64 = 0

    @inlinable
    package init() {}

    /// The number of waiting entries.
    @inlinable
    package var count: Int { order.count }

    /// Adds an entry at the end.
    ///
    /// - Parameter deadline: nil waits without a limit. The queue removes entries from its front
    ///   only, so an entry with an earlier deadline than one before it waits as long as that one.
    @inlinable
    package mutating func join(_ waiter: Waiter, until deadline: Instant? = nil) -> Ticket {
        joined &+= 1
        let slot = entries.insert(Entry(waiter, number: joined, deadline: deadline))
        entries.join(slot, &order)
        assert(order.count == entries.count, "an entry is in no order")
        return Ticket(slot: slot, number: joined)
    }

    /// Removes the entry that waits longest.
    @inlinable
    package mutating func takeFirst() -> Waiter? {
        guard let slot = order.oldest else { return nil }
        entries.leave(slot, &order)
        assert(order.count == entries.count - 1, "an entry is in no order")
        return entries.remove(slot)?.waiter
    }

    /// Removes an entry before its turn. Nil, and nothing happens, if it has left the queue
    /// already.
    @inlinable
    @discardableResult
    package mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard entries[ticket.slot]?.number == ticket.number else { return nil }
        entries.leave(ticket.slot, &order)
        return entries.remove(ticket.slot)?.waiter
    }

    /// The deadline of the entry that waits longest; nil if it has none, or the queue is empty.
    @inlinable
    package var nextDeadline: Instant? { order.oldest.flatMap { entries[$0]?.deadline } }

    /// Removes the entry that waits longest if its deadline has passed.
    @inlinable
    package mutating func takeExpired(at now: Instant) -> Waiter? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        return takeFirst()
    }
}
