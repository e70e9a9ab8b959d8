package import Basics
import Promises

/// One pending call of a timer queue. Keeping it is only needed to cancel it.
///
/// A number and no object, because every call of a gateway has a timeout and hardly any strikes.
/// Confined to its loop.
package struct Timer {
    let table: TimerTable
    let slot: Int
    /// Tells it from the timers that had the slot before or have it later.
    let sequence: UInt64

    /// True until it fired or was cancelled.
    package var isPending: Bool { table.due(slot, sequence) != nil }

    /// When it is due; nil when it fired or was cancelled.
    package var due: Instant? { table.due(slot, sequence) }

    /// Takes it out of its queue and frees what its action holds. Nothing happens if it is too late.
    package func cancel() {
        // What the action held may cancel other timers as it goes; it goes when the table is done.
        _ = table.remove(slot, sequence)
    }
}

extension Timer: Cancellable {
    package func cancel(because cause: (any Error)?) { cancel() }
}
