/// A binary heap of timers. Timers that are due at the same time keep their order.
struct PoolTimerHeap: ~Copyable, Sendable {
    private struct Entry {
        let timer: PoolTimer
        let number: Int

        static func < (one: Entry, other: Entry) -> Bool {
            let (due, otherDue) = (one.timer.due, other.timer.due)
            return due == otherDue ? one.number < other.number : due < otherDue
        }
    }

    private var entries: [Entry] = []
    private var insertedCount = 0

    var count: Int { entries.count }

    var earliest: PoolTimer? { entries.first?.timer }

    mutating func insert(_ timer: PoolTimer) {
        insertedCount += 1
        entries.append(Entry(timer: timer, number: insertedCount))
        rise(from: entries.count - 1)
    }

    mutating func popEarliest() -> PoolTimer? {
        guard let last = entries.popLast() else { return nil }
        guard let first = entries.first else { return last.timer }
        entries[0] = last
        sink(from: 0)
        return first.timer
    }

    /// Removes the timers that satisfy the condition, and returns them.
    mutating func remove(where isRemoved: (PoolTimer) -> Bool) -> [PoolTimer] {
        let all = entries
        var removed: [PoolTimer] = []
        entries = []
        for entry in all {
            if isRemoved(entry.timer) { removed.append(entry.timer) } else { entries.append(entry) }
        }
        for index in (0..<entries.count / 2).reversed() { sink(from: index) }
        return removed
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, entries[index] < entries[(index - 1) / 2] {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entries[index] else { return }
            entries.swapAt(index, child)
            index = child
        }
    }
}
