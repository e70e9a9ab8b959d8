/// A binary heap of the timers that fit no list. Each slot stores its index in the heap, so that a
/// cancelled timer is removed at once.
struct TimerHeap {
    private var keys: [TimerStore.Key] = []

    /// The earliest timer.
    var first: TimerStore.Key? { keys.first }

    mutating func insert(_ key: TimerStore.Key, _ slots: inout [TimerSlot]) {
        keys.append(key)
        rise(from: keys.count - 1, &slots)
    }

    /// Removes a timer that is in the heap.
    mutating func remove(_ slot: Int, _ slots: inout [TimerSlot]) {
        let index = slots[slot].heapIndex
        let last = keys.removeLast()
        guard last.slot != slot else { return }
        keys[index] = last
        if index > 0, last < keys[(index - 1) / 2] {
            rise(from: index, &slots)
        } else {
            sink(from: index, &slots)
        }
    }

    /// Moves a key towards the root, past all later keys.
    private mutating func rise(from start: Int, _ slots: inout [TimerSlot]) {
        let key = keys[start]
        var index = start
        while index > 0, key < keys[(index - 1) / 2] {
            put(keys[(index - 1) / 2], at: index, &slots)
            index = (index - 1) / 2
        }
        put(key, at: index, &slots)
    }

    /// Moves a key towards the leaves, past all earlier keys.
    private mutating func sink(from start: Int, _ slots: inout [TimerSlot]) {
        let key = keys[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < keys.count else { break }
            if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
            guard keys[child] < key else { break }
            put(keys[child], at: index, &slots)
            index = child
        }
        put(key, at: index, &slots)
    }

    private mutating func put(
        _ key: TimerStore.Key, at index: Int, _ slots: inout [TimerSlot]
    ) {
        keys[index] = key
        slots[key.slot].heapIndex = index
    }
}
