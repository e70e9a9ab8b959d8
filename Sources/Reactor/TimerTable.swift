import Basics

/// The state that a queue shares with its timers.
final class TimerTable {
    /// No access calls foreign code: actions are returned and neither called nor released inside it.
    private var store = TimerStore()

    var count: Int { store.count }

    /// The number of timers that were ever added.
    var addedCount: UInt64 { store.addedCount }

    /// The earliest timer.
    var first: TimerStore.Key? { store.first }

    /// When a timer is due; nil if it is not pending.
    func due(_ slot: Int, _ sequence: UInt64) -> Instant? { store.due(slot, sequence) }

    func insert(_ due: Instant, _ action: @escaping () -> Void) -> (slot: Int, sequence: UInt64) {
        store.insert(due, action)
    }

    /// Removes a timer and returns its action; nil if it is not pending.
    func remove(_ slot: Int, _ sequence: UInt64) -> (() -> Void)? {
        store.remove(slot, sequence)
    }

    /// Removes all timers and returns their actions.
    func removeAll() -> [() -> Void] { store.removeAll() }
}
