/// Those who wait for a connection: first come, first served, and any of them may leave early.
struct PoolWaiters<Waiter> {
    /// A place in the line, valid until it is served or left.
    struct Ticket: Equatable {
        fileprivate let slot: Int
    }

    private var places = SlotTable<Waiter>()
    private var line = SlotList()

    /// How many wait.
    var count: Int { line.count }

    /// Joins the end of the line.
    mutating func join(_ waiter: Waiter) -> Ticket {
        let slot = places.insert(waiter)
        places.join(slot, &line)
        return Ticket(slot: slot)
    }

    /// Takes the one who waits longest out of the line.
    mutating func takeFirst() -> Waiter? {
        guard let slot = line.oldest else { return nil }
        places.leave(slot, &line)
        return places.remove(slot)
    }

    /// Leaves the line unserved. Nothing happens with a ticket that is no longer valid.
    mutating func leave(_ ticket: Ticket) {
        guard places[ticket.slot] != nil else { return }
        places.leave(ticket.slot, &line)
        places.remove(ticket.slot)
    }
}
