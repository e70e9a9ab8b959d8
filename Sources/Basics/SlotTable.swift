/// Numbered places for values, used again when they are free: a number finds its value without
/// hashing, and once a table has grown to its usual size, nothing is allocated any more.
///
/// A slot may stand in one `SlotList`; joining and leaving it take constant time. Inlinable, so that
/// the compiler specialises it for the values of other modules.
@usableFromInline
package struct SlotTable<Value> {
    @usableFromInline
    struct Slot {
        @usableFromInline var value: Value?
        /// The neighbours in the list that the slot stands in; `after` also chains the free slots.
        @usableFromInline var before: Int
        @usableFromInline var after: Int

        @inlinable
        init(_ value: Value?, after: Int = SlotList.nowhere) {
            self.value = value
            before = SlotList.nowhere
            self.after = after
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var firstFree = SlotList.nowhere

    /// How many slots hold a value.
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init() {}

    /// Puts a value into a free slot and gives its number.
    @inlinable
    package mutating func insert(_ value: Value) -> Int {
        count += 1
        guard firstFree != SlotList.nowhere else {
            slots.append(Slot(value))
            return slots.count - 1
        }
        let slot = firstFree
        firstFree = slots[slot].after
        slots[slot] = Slot(value)
        return slot
    }

    /// Takes the value out and frees the slot, which must have left its list before. Nil when it
    /// was free.
    @inlinable
    @discardableResult
    package mutating func remove(_ slot: Int) -> Value? {
        guard let value = self[slot] else { return nil }
        count -= 1
        slots[slot] = Slot(nil, after: firstFree)
        firstFree = slot
        return value
    }

    /// The value in a slot; nil for a free one.
    @inlinable
    package subscript(slot: Int) -> Value? {
        get { slots.indices.contains(slot) ? slots[slot].value : nil }
        set {
            guard let newValue, slots.indices.contains(slot), slots[slot].value != nil else {
                return
            }
            slots[slot].value = newValue
        }
    }

    /// Puts a slot at the end of a list.
    @inlinable
    package mutating func join(_ slot: Int, _ list: inout SlotList) {
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
    @inlinable
    package mutating func leave(_ slot: Int, _ list: inout SlotList) {
        let (before, after) = (slots[slot].before, slots[slot].after)
        if before == SlotList.nowhere { list.first = after } else { slots[before].after = after }
        if after == SlotList.nowhere { list.last = before } else { slots[after].before = before }
        slots[slot].before = SlotList.nowhere
        slots[slot].after = SlotList.nowhere
        list.count -= 1
    }
}

/// The two ends of a list that runs through the slots of a table, in the order of joining.
@usableFromInline
package struct SlotList {
    @inlinable
    package static var nowhere: Int { -1 }

    @usableFromInline var first = nowhere
    @usableFromInline var last = nowhere
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init() {}

    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// The slot that joined first; nil when the list is empty.
    @inlinable
    package var oldest: Int? { isEmpty ? nil : first }

    /// The slot that joined last; nil when the list is empty.
    @inlinable
    package var newest: Int? { isEmpty ? nil : last }
}
