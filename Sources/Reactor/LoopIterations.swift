package import Basics

/// How long the iterations of a loop take: the time from the first callback after a wait for events to
/// the beginning of the next wait. Owned by its loop and confined to its thread.
///
/// While an iteration runs, nothing else of the worker does: its duration delays every other request.
package final class LoopIterations {
    private var recorded = Histogram(.loopIterations)
    /// When the present iteration began; nil before its first callback.
    private var start: Instant?

    /// In nanoseconds.
    package var durations: Histogram { recorded }

    package init() {}

    /// The first callback of an iteration begins.
    package func begin(at now: Instant) { start = now }

    /// An iteration ends: the loop will wait for events. One without a callback is not recorded.
    package func end(at now: Instant) {
        guard let start = start.take() else { return }
        recorded.record((now - start).inNanoseconds)
    }
}
