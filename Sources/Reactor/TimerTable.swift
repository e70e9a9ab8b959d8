import Basics

/// What a queue and its timers share: the places of the pending ones.
final class TimerTable {
    /// Unchecked, as every access is over before anything of a user's runs: actions are handed out,
    /// and neither called nor freed in there.
    @exclusivity(unchecked) private var places = TimerPlaces()

    var count: Int { unsafe places.count }

    /// How many were ever added.
    var made: UInt64 { unsafe places.made }

    /// The timer that is due first.
    var first: TimerPlaces.Key? { unsafe places.first }

    /// When a timer is due; nil when it is none any more.
    func due(_ slot: Int, _ sequence: UInt64) -> Instant? { unsafe places.due(slot, sequence) }

    func insert(_ due: Instant, _ action: @escaping () -> Void) -> (slot: Int, sequence: UInt64) {
        unsafe places.insert(due, action)
    }

    /// Takes a timer out and gives its action; nil if it is there no more.
    func remove(_ slot: Int, _ sequence: UInt64) -> (() -> Void)? {
        unsafe places.remove(slot, sequence)
    }

    /// Takes all out and gives their actions.
    func removeAll() -> [() -> Void] { unsafe places.removeAll() }
}
