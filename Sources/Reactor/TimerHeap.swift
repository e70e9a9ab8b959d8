/// A binary heap of the timers that fit no lane. Each slot knows its place in it, so that cancelling
/// frees it at once.
struct TimerHeap {
    private var keys: [TimerPlaces.Key] = []

    /// The one that is due first.
    var first: TimerPlaces.Key? { keys.first }

    mutating func insert(_ key: TimerPlaces.Key, _ slots: inout [TimerSlot]) {
        keys.append(key)
        rise(from: keys.count - 1, &slots)
    }

    /// Takes a timer out that is in here.
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

    /// Moves a key towards the root, past everything that comes after it.
    private mutating func rise(from start: Int, _ slots: inout [TimerSlot]) {
        let key = keys[start]
        var index = start
        while index > 0, key < keys[(index - 1) / 2] {
            place(keys[(index - 1) / 2], at: index, &slots)
            index = (index - 1) / 2
        }
        place(key, at: index, &slots)
    }

    /// Moves a key towards the leaves, past everything that comes before it.
    private mutating func sink(from start: Int, _ slots: inout [TimerSlot]) {
        let key = keys[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < keys.count else { break }
            if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
            guard keys[child] < key else { break }
            place(keys[child], at: index, &slots)
            index = child
        }
        place(key, at: index, &slots)
    }

    private mutating func place(
        _ key: TimerPlaces.Key, at index: Int, _ slots: inout [TimerSlot]
    ) {
        keys[index] = key
        slots[key.slot].heapIndex = index
    }
}
