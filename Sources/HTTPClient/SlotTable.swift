/// Numbered places for values, used again when they are free: a number finds its value without
/// hashing, and once a table has grown to its usual size, nothing is allocated any more.
///
/// A slot may stand in one `SlotList`; joining and leaving it take constant time.
struct SlotTable<Value> {
    private struct Slot {
        var value: Value?
        /// The neighbours in the list that the slot stands in; `after` also chains the free slots.
        var before = SlotList.nowhere
        var after = SlotList.nowhere
    }

    private var slots: [Slot] = []
    private var firstFree = SlotList.nowhere

    /// How many slots hold a value.
    private(set) var count = 0

    /// Puts a value into a free slot and gives its number.
    mutating func insert(_ value: Value) -> Int {
        count += 1
        guard firstFree != SlotList.nowhere else {
            slots.append(Slot(value: value))
            return slots.count - 1
        }
        let slot = firstFree
        firstFree = slots[slot].after
        slots[slot] = Slot(value: value)
        return slot
    }

    /// Takes the value out and frees the slot, which must have left its list before. Nil when it
    /// was free.
    @discardableResult
    mutating func remove(_ slot: Int) -> Value? {
        guard let value = self[slot] else { return nil }
        count -= 1
        slots[slot] = Slot(value: nil, after: firstFree)
        firstFree = slot
        return value
    }

    /// The value in a slot; nil for a free one.
    subscript(slot: Int) -> Value? {
        get { slots.indices.contains(slot) ? slots[slot].value : nil }
        set {
            guard let newValue, slots.indices.contains(slot), slots[slot].value != nil else {
                return
            }
            slots[slot].value = newValue
        }
    }

    /// Puts a slot at the end of a list.
    mutating func join(_ slot: Int, _ list: inout SlotList) {
        slots[slot].before = list.last
        slots[slot].after = SlotList.nowhere
        if list.last == SlotList.nowhere {
            list.first = slot
        } else {
            slots[list.last].after = slot
        }
        list.last = slot
        list.count += 1
    }

    /// Takes a slot out of the list that it stands in.
    mutating func leave(_ slot: Int, _ list: inout SlotList) {
        let (before, after) = (slots[slot].before, slots[slot].after)
        if before == SlotList.nowhere { list.first = after } else { slots[before].after = after }
        if after == SlotList.nowhere { list.last = before } else { slots[after].before = before }
        slots[slot].before = SlotList.nowhere
        slots[slot].after = SlotList.nowhere
        list.count -= 1
    }
}

/// The two ends of a list that runs through the slots of a table, in the order of joining.
struct SlotList {
    static let nowhere = -1

    fileprivate(set) var first = nowhere
    fileprivate(set) var last = nowhere
    fileprivate(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The slot that joined first; nil when the list is empty.
    var oldest: Int? { isEmpty ? nil : first }

    /// The slot that joined last; nil when the list is empty.
    var newest: Int? { isEmpty ? nil : last }
}
