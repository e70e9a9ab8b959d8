import Basics

/// The heartbeat of one worker, on the control loop: numbered messages through the worker's inbox,
/// each of which the worker answers with its number.
///
/// The age counts from the oldest unanswered message and not from the last answer. So the workers
/// of a process that was stopped and continued as a whole do not look hung.
struct Heartbeat {
    /// The number of the last message.
    private(set) var number: UInt64 = 0
    private var sentAt = Instant(nanoseconds: 0)

    /// The number of the next message; nil while the last one is unanswered, so that the inbox of a
    /// worker that hangs does not grow.
    mutating func next(answered: UInt64, at now: Instant) -> UInt64? {
        guard answered == number else { return nil }
        number += 1
        sentAt = now
        return number
    }

    /// How long a message has been unanswered; zero if none is.
    func age(answered: UInt64, at now: Instant) -> Duration {
        answered == number ? .zero : max(.zero, now - sentAt)
    }
}
