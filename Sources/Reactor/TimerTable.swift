import Basics

/// The state that a queue shares with its timers.
final class TimerTable {
    /// Unchecked: no access calls foreign code, since actions are returned and neither called nor
    /// released inside it.
    @exclusivity(unchecked) private var store = TimerStore()

    var count: Int { unsafe store.count }

    /// The number of timers that were ever added.
    var addedCount: UInt64 { unsafe store.addedCount }

    /// The earliest timer.
    var first: TimerStore.Key? { unsafe store.first }

    /// When a timer is due; nil if it is not pending.
    func due(_ slot: Int, _ sequence: UInt64) -> Instant? { unsafe store.due(slot, sequence) }

    func insert(_ due: Instant, _ action: @escaping () -> Void) -> (slot: Int, sequence: UInt64) {
        unsafe store.insert(due, action)
    }

    /// Removes a timer and returns its action; nil if it is not pending.
    func remove(_ slot: Int, _ sequence: UInt64) -> (() -> Void)? {
        unsafe store.remove(slot, sequence)
    }

    /// Removes all timers and returns their actions.
    func removeAll() -> [() -> Void] { unsafe store.removeAll() }
}
