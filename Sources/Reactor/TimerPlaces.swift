import Basics

/// Where the timers of a queue stand: numbered slots, used again when they are free, in lanes and a
/// heap.
///
/// A lane is a list in order of (due, sequence). A new timer joins the first lane whose last one is
/// due no later; so timers of equal length, which is what a gateway makes, share a lane, and adding
/// or cancelling one costs a few links. What fits no lane goes to the heap.
struct TimerPlaces {
    /// A pending timer's key and the slot where it stands.
    struct Key {
        let due: Instant
        let sequence: UInt64
        let slot: Int

        static func < (one: Key, other: Key) -> Bool {
            one.due == other.due ? one.sequence < other.sequence : one.due < other.due
        }
    }

    private var slots: [TimerSlot] = []
    private var firstFree = TimerSlot.nowhere
    private var lanes: [TimerLane] = Array(repeating: TimerLane(), count: TimerPlaces.laneCount)
    private var heap = TimerHeap()
    private(set) var count = 0
    private(set) var made: UInt64 = 0

    /// Enough for the lengths that one configuration has; walked for every timer, so not more.
    private static let laneCount = 8

    /// When a timer is due; nil when it is none any more.
    func due(_ slot: Int, _ sequence: UInt64) -> Instant? {
        guard slot < slots.count, slots[slot].sequence == sequence else { return nil }
        return slots[slot].due
    }

    /// The timer that is due first.
    var first: Key? {
        var first = heap.first
        for lane in lanes where lane.first != TimerSlot.nowhere {
            let key = key(of: lane.first)
            if let known = first, known < key { continue }
            first = key
        }
        return first
    }

    mutating func insert(_ due: Instant, _ action: @escaping () -> Void) -> (
        slot: Int, sequence: UInt64
    ) {
        made += 1
        count += 1
        let sequence = made
        let slot = takeFree()
        slots[slot] = TimerSlot(due: due, sequence: sequence, action: action)
        join(slot, due)
        return (slot, sequence)
    }

    /// Takes a timer out and gives its action; nil if it is there no more.
    mutating func remove(_ slot: Int, _ sequence: UInt64) -> (() -> Void)? {
        guard due(slot, sequence) != nil else { return nil }
        count -= 1
        leave(slot)
        let action = slots[slot].action
        slots[slot] = TimerSlot(after: firstFree)
        firstFree = slot
        return action
    }

    /// Takes all out and gives their actions.
    mutating func removeAll() -> [() -> Void] {
        let actions = slots.compactMap(\.action)
        let made = made
        self = TimerPlaces()
        self.made = made
        return actions
    }

    // MARK: Places

    private func key(of slot: Int) -> Key {
        Key(due: slots[slot].due, sequence: slots[slot].sequence, slot: slot)
    }

    private mutating func takeFree() -> Int {
        guard firstFree != TimerSlot.nowhere else {
            slots.append(TimerSlot(after: TimerSlot.nowhere))
            return slots.count - 1
        }
        let slot = firstFree
        firstFree = slots[slot].after
        return slot
    }

    private mutating func join(_ slot: Int, _ due: Instant) {
        for index in lanes.indices {
            let last = lanes[index].last
            guard last == TimerSlot.nowhere || slots[last].due <= due else { continue }
            slots[slot].place = index
            slots[slot].before = last
            if last == TimerSlot.nowhere {
                lanes[index].first = slot
            } else {
                slots[last].after = slot
            }
            lanes[index].last = slot
            return
        }
        heap.insert(key(of: slot), &slots)
    }

    private mutating func leave(_ slot: Int) {
        let lane = slots[slot].place
        guard lane >= 0 else {
            heap.remove(slot, &slots)
            return
        }
        let (before, after) = (slots[slot].before, slots[slot].after)
        if before == TimerSlot.nowhere {
            lanes[lane].first = after
        } else {
            slots[before].after = after
        }
        if after == TimerSlot.nowhere {
            lanes[lane].last = before
        } else {
            slots[after].before = before
        }
    }
}

/// The two ends of a lane.
struct TimerLane {
    var first = TimerSlot.nowhere
    var last = TimerSlot.nowhere
}

/// One place for a timer.
struct TimerSlot {
    static let nowhere = -1

    var due = Instant(nanoseconds: 0)
    /// Zero while it is free.
    var sequence: UInt64 = 0
    var action: (() -> Void)?
    /// The lane; or, below zero, where it stands in the heap.
    var place = 0
    /// The neighbours in the lane; `after` also chains the free slots.
    var before = nowhere
    var after = nowhere

    init(due: Instant, sequence: UInt64, action: @escaping () -> Void) {
        self.due = due
        self.sequence = sequence
        self.action = action
    }

    /// A free one.
    init(after: Int) {
        self.after = after
    }

    /// Where it stands in the heap, if it does.
    var heapIndex: Int {
        get { -1 - place }
        set { place = -1 - newValue }
    }
}
