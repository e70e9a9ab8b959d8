import Basics

/// The storage of a timer queue: reusable numbered slots, linked into sorted lists and a heap.
///
/// Each list is ordered by (due, sequence). A new timer is appended to the first list whose last
/// timer is due no later. Timers of equal duration, which a gateway mostly uses, therefore share a
/// list, and adding or cancelling one changes a few links. Timers that fit no list go to the heap.
struct TimerStore {
    /// The key of a pending timer and its slot.
    struct Key {
        let due: Instant
        let sequence: UInt64
        let slot: Int

        static func < (one: Key, other: Key) -> Bool {
            one.due == other.due ? one.sequence < other.sequence : one.due < other.due
        }
    }

    private var slots: [TimerSlot] = []
    private var firstFree = TimerSlot.none
    private var lists: [TimerList] = Array(repeating: TimerList(), count: TimerStore.listCount)
    private var heap = TimerHeap()
    private(set) var count = 0
    private(set) var addedCount: UInt64 = 0

    /// Enough for the durations of one configuration; every new timer walks the lists, so not more.
    private static let listCount = 8

    /// When a timer is due; nil if it is not pending.
    func due(_ slot: Int, _ sequence: UInt64) -> Instant? {
        guard slot < slots.count, slots[slot].sequence == sequence else { return nil }
        return slots[slot].due
    }

    /// The earliest timer.
    var first: Key? {
        var first = heap.first
        for list in lists where list.first != TimerSlot.none {
            let key = key(of: list.first)
            if let earliest = first, earliest < key { continue }
            first = key
        }
        return first
    }

    mutating func insert(_ due: Instant, _ action: @escaping () -> Void) -> (
        slot: Int, sequence: UInt64
    ) {
        addedCount += 1
        count += 1
        let sequence = addedCount
        let slot = takeFreeSlot()
        slots[slot] = TimerSlot(due: due, sequence: sequence, action: action)
        link(slot, due)
        return (slot, sequence)
    }

    /// Removes a timer and returns its action; nil if it is not pending.
    mutating func remove(_ slot: Int, _ sequence: UInt64) -> (() -> Void)? {
        guard due(slot, sequence) != nil else { return nil }
        count -= 1
        unlink(slot)
        let action = slots[slot].action
        slots[slot] = TimerSlot(after: firstFree)
        firstFree = slot
        return action
    }

    /// Removes all timers and returns their actions.
    mutating func removeAll() -> [() -> Void] {
        let actions = slots.compactMap(\.action)
        let addedCount = addedCount
        self = TimerStore()
        self.addedCount = addedCount
        return actions
    }

    // MARK: Slots

    private func key(of slot: Int) -> Key {
        Key(due: slots[slot].due, sequence: slots[slot].sequence, slot: slot)
    }

    private mutating func takeFreeSlot() -> Int {
        guard firstFree != TimerSlot.none else {
            slots.append(TimerSlot(after: TimerSlot.none))
            return slots.count - 1
        }
        let slot = firstFree
        firstFree = slots[slot].after
        return slot
    }

    private mutating func link(_ slot: Int, _ due: Instant) {
        for index in lists.indices {
            let last = lists[index].last
            guard last == TimerSlot.none || slots[last].due <= due else { continue }
            slots[slot].position = index
            slots[slot].before = last
            if last == TimerSlot.none {
                lists[index].first = slot
            } else {
                slots[last].after = slot
            }
            lists[index].last = slot
            return
        }
        heap.insert(key(of: slot), &slots)
    }

    private mutating func unlink(_ slot: Int) {
        let list = slots[slot].position
        guard list >= 0 else {
            heap.remove(slot, &slots)
            return
        }
        let (before, after) = (slots[slot].before, slots[slot].after)
        if before == TimerSlot.none {
            lists[list].first = after
        } else {
            slots[before].after = after
        }
        if after == TimerSlot.none {
            lists[list].last = before
        } else {
            slots[after].before = before
        }
    }
}

/// The first and last slot of a list.
struct TimerList {
    var first = TimerSlot.none
    var last = TimerSlot.none
}

/// One timer, or a free slot.
struct TimerSlot {
    static let none = -1

    var due = Instant(nanoseconds: 0)
    /// Zero if the slot is free.
    var sequence: UInt64 = 0
    var action: (() -> Void)?
    /// The index of the list; below zero, the position in the heap.
    var position = 0
    /// The neighbours in the list; `after` also links the free slots.
    var before = none
    var after = none

    init(due: Instant, sequence: UInt64, action: @escaping () -> Void) {
        self.due = due
        self.sequence = sequence
        self.action = action
    }

    /// A free slot.
    init(after: Int) {
        self.after = after
    }

    /// The position in the heap, for a timer that is there.
    var heapIndex: Int {
        get { -1 - position }
        set { position = -1 - newValue }
    }
}
