/// Slots of a table in the order in which they were added: for example the connection that has been
/// idle for the longest time.
///
/// A doubly linked list whose links are in one array, indexed by slot, so that adding, removing and
/// finding the first take a few instructions, use no reference count and allocate only when the
/// table grows. Owned by the server, confined to its loop's thread.
struct SlotQueue {
    private struct Link {
        var previous = none
        var next = none
        var isQueued = false
    }

    private static let none = -1

    private var links: [Link] = []
    private var head = none
    private var tail = none

    /// The slot that was added first.
    var first: Int? { head == Self.none ? nil : head }

    /// The slot that was added after this one; nil for the last, and for one that is not queued.
    func next(after slot: Int) -> Int? {
        guard contains(slot), links[slot].next != Self.none else { return nil }
        return links[slot].next
    }

    func contains(_ slot: Int) -> Bool { links.indices.contains(slot) && links[slot].isQueued }

    /// Adds a slot at the end; one that is queued keeps its position.
    mutating func append(_ slot: Int) {
        while links.count <= slot { links.append(Link()) }
        guard !links[slot].isQueued else { return }
        links[slot] = Link(previous: tail, next: Self.none, isQueued: true)
        if tail == Self.none { head = slot } else { links[tail].next = slot }
        tail = slot
    }

    /// Removes a slot; does nothing if it is not queued.
    mutating func remove(_ slot: Int) {
        guard contains(slot) else { return }
        let link = links[slot]
        links[slot] = Link()
        relink(link, before: link.next, behind: link.previous)
    }

    /// Moves an entry to another slot, which is not queued; it keeps its position.
    mutating func move(from source: Int, to target: Int) {
        guard source != target, contains(source) else { return }
        while links.count <= target { links.append(Link()) }
        let link = links[source]
        links[source] = Link()
        links[target] = link
        relink(link, before: target, behind: target)
    }

    /// Updates the neighbours of a link.
    private mutating func relink(_ link: Link, before next: Int, behind previous: Int) {
        if link.previous == Self.none { head = next } else { links[link.previous].next = next }
        if link.next == Self.none { tail = previous } else { links[link.next].previous = previous }
    }
}
