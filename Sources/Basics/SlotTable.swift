/// Numbered slots for values, reused when they are free: a number finds its value without hashing,
/// and a table that has grown to its usual size allocates nothing more.
///
/// A slot may be in one `SlotList`; joining and leaving the list take constant time. Inlinable, so
/// that the compiler specialises it for the values of other modules.
@usableFromInline
package struct SlotTable<Value> {
    @usableFromInline
    struct Slot {
        @usableFromInline var value: Value?
        /// The neighbours in the slot's list; `after` also links the free slots.
        @usableFromInline var before: Int
        @usableFromInline var after: Int

        @inlinable
        init(_ value: Value?, after: Int = SlotList.noSlot) {
            self.value = value
            before = SlotList.noSlot
            self.after = after
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var firstFree = SlotList.noSlot

    /// How many slots hold a value.
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init() {}

    /// Stores a value in a free slot and returns its number.
    @inlinable
    package mutating func insert(_ value: Value) -> Int {
        count += 1
        guard firstFree != SlotList.noSlot else {
            slots.append(Slot(value))
            return slots.count - 1
        }
        let slot = firstFree
        firstFree = slots[slot].after
        slots[slot] = Slot(value)
        return slot
    }

    /// Removes the value and frees the slot, which must have left its list before. Nil if it was
    /// free.
    @inlinable
    @discardableResult
    package mutating func remove(_ slot: Int) -> Value? {
        guard let value = self[slot] else { return nil }
        assert(isUnlinked(slot), "a slot in a list is removed")
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

    /// Whether a slot has no neighbours: it is in no list, or alone in one.
    @inlinable
    func isUnlinked(_ slot: Int) -> Bool {
        slots[slot].before == SlotList.noSlot && slots[slot].after == SlotList.noSlot
    }

    /// Appends a slot to a list.
    @inlinable
    package mutating func join(_ slot: Int, _ list: inout SlotList) {
        assert(self[slot] != nil && isUnlinked(slot), "a free slot, or one in a list, joins one")
        assert(list.last != slot, "a slot joins its list again")
        slots[slot].before = list.last
        slots[slot].after = SlotList.noSlot
        if list.last == SlotList.noSlot {
            list.first = slot
        } else {
            slots[list.last].after = slot
        }
        list.last = slot
        list.count += 1
    }

    /// Removes a slot from its list.
    @inlinable
    package mutating func leave(_ slot: Int, _ list: inout SlotList) {
        let (before, after) = (slots[slot].before, slots[slot].after)
        assert(list.count > 0, "a slot leaves an empty list")
        assert(before != SlotList.noSlot || list.first == slot, "another list has the slot")
        assert(after != SlotList.noSlot || list.last == slot, "another list has the slot")
        if before == SlotList.noSlot { list.first = after } else { slots[before].after = after }
        if after == SlotList.noSlot { list.last = before } else { slots[after].before = before }
        slots[slot].before = SlotList.noSlot
        slots[slot].after = SlotList.noSlot
        list.count -= 1
    }
}

/// The two ends of a linked list of slots, in the order of joining.
@usableFromInline
package struct SlotList {
    @inlinable
    package static var noSlot: Int { -1 }

    @usableFromInline var first = noSlot
    @usableFromInline var last = noSlot
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
