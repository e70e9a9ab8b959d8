package import Basics
import Promises

/// One pending call of a timer queue. The caller stores it only if it may cancel it.
///
/// A number instead of an object, because every call of a gateway has a timeout and few timeouts
/// fire. Confined to its loop.
package struct Timer {
    let table: TimerTable
    let slot: Int
    /// Distinguishes this timer from earlier and later ones in the same slot.
    let sequence: UInt64

    /// True until the timer fires or is cancelled.
    package var isPending: Bool { table.due(slot, sequence) != nil }

    /// When the timer is due; nil after it fired or was cancelled.
    package var due: Instant? { table.due(slot, sequence) }

    /// Removes the timer from its queue and releases its action. Does nothing after it fired.
    package func cancel() {
        // Releasing the action may cancel other timers, so it is released after the access to the
        // table.
        _ = table.remove(slot, sequence)
    }
}

extension Timer: Cancellable {
    package func cancel(because cause: (any Error)?) { cancel() }
}
