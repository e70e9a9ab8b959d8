import Basics

/// The heartbeat of one worker, as the control loop sees it: numbered messages through the worker's
/// inbox, each of which the worker answers with its number.
///
/// A plain value of `WorkerMonitor`. The age counts from the oldest message without an answer and
/// not from the last answer: a process that was stopped as a whole comes back without a worker that
/// looks hung.
struct Heartbeat {
    /// The number of the last message.
    private(set) var number: UInt64 = 0
    private var sentAt = Instant(nanoseconds: 0)

    /// Gives the next message's number; nil while the last one has no answer, so that the inbox of a
    /// worker that hangs does not grow.
    mutating func next(answered: UInt64, at now: Instant) -> UInt64? {
        guard answered == number else { return nil }
        number += 1
        sentAt = now
        return number
    }

    /// How long the worker has owed an answer; zero if it owes none.
    func age(answered: UInt64, at now: Instant) -> Duration {
        answered == number ? .zero : max(.zero, now - sentAt)
    }
}
