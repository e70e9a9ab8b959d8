package import Basics

/// How long the iterations of a loop take: the time from the end of one wait for events to the
/// beginning of the next. Owned by its loop and confined to its thread.
///
/// While an iteration runs, nothing else of the worker does: its duration delays every other request.
package final class LoopIterations {
    /// Unchecked: no access calls other code.
    @exclusivity(unchecked) private var recorded = Histogram(.loopIterations)
    /// When the last iteration ended, and how long the loop had waited until then.
    @exclusivity(unchecked) private var last: (end: Int64, waited: Int64)?

    /// In nanoseconds.
    package var durations: Histogram { unsafe recorded }

    package init() {}

    /// An iteration ends: the loop will wait for events.
    ///
    /// - Parameters:
    ///   - now: the clock, in nanoseconds
    ///   - waited: how long the loop has waited for events since its start, in nanoseconds
    package func end(at now: Int64, waited: Int64) {
        if let last = unsafe last {
            unsafe recorded.record((now &- last.end) &- (waited &- last.waited))
        }
        unsafe last = (now, waited)
    }
}
