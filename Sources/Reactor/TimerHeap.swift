import Basics

/// A binary heap in which every timer knows its slot, so that cancelling, the fate of most timers of
/// a gateway, frees it at once.
struct TimerHeap {
    struct Entry {
        let due: Instant
        let sequence: UInt64
        let timer: Timer

        static func < (one: Entry, other: Entry) -> Bool {
            one.due == other.due ? one.sequence < other.sequence : one.due < other.due
        }
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// The one that is due first.
    var first: Entry? { entries.first }

    mutating func insert(_ timer: Timer, sequence: UInt64) {
        entries.append(Entry(due: timer.due, sequence: sequence, timer: timer))
        rise(from: entries.count - 1)
    }

    /// Takes a timer out that is in here.
    mutating func remove(_ timer: Timer) {
        let slot = timer.slot
        timer.slot = -1
        let last = entries.removeLast()
        guard last.timer !== timer else { return }
        entries[slot] = last
        if slot > 0, last < entries[(slot - 1) / 2] { rise(from: slot) } else { sink(from: slot) }
    }

    /// Takes all out.
    mutating func removeAll() -> [Timer] {
        let timers = entries.map(\.timer)
        entries = []
        for timer in timers { timer.slot = -1 }
        return timers
    }

    /// Moves an entry towards the root, past everything that comes after it.
    private mutating func rise(from start: Int) {
        let entry = entries[start]
        var slot = start
        while slot > 0 {
            let parent = (slot - 1) / 2
            guard entry < entries[parent] else { break }
            place(entries[parent], at: slot)
            slot = parent
        }
        if slot != start { entries[slot] = entry }
        entry.timer.slot = slot
    }

    /// Moves an entry towards the leaves, past everything that comes before it.
    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var slot = start
        while true {
            var child = 2 * slot + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entry else { break }
            place(entries[child], at: slot)
            slot = child
        }
        if slot != start { entries[slot] = entry }
        entry.timer.slot = slot
    }

    private mutating func place(_ entry: Entry, at slot: Int) {
        entries[slot] = entry
        entry.timer.slot = slot
    }
}
