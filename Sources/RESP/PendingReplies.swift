import Basics
import Promises

/// A command whose reply is expected.
final class PendingReply {
    private var resolver: LocalResolver<RESPValue>?
    let deadline: Instant
    /// Its time is over.
    private(set) var isLate = false
    /// The command, while there is no connection for it.
    var unsent: [UInt8] = []

    init(_ resolver: consuming LocalResolver<RESPValue>, until deadline: Instant) {
        self.resolver = consume resolver
        self.deadline = deadline
    }

    /// One of the first commands of a connection, which have one time limit together.
    init() {
        deadline = Instant(nanoseconds: .max)
    }

    /// Whether the result is still needed.
    var isPending: Bool { resolver != nil }

    func fulfill(_ value: RESPValue) { resolver.take()?.fulfill(value) }

    func fail(_ failure: RESPFailure) { resolver.take()?.reject(failure) }

    /// Its time is over.
    func expire() {
        isLate = true
        fail(.timedOut)
    }
}

/// The commands of one connection in the order in which they were written, which is that of their
/// replies.
///
/// A command whose time is over stays in the queue: its reply, which may still arrive, must not be
/// taken for that of the next command.
struct PendingReplies {
    private var replies: [PendingReply?] = []
    /// The index of the oldest.
    private var first = 0
    /// The index of the oldest that has not failed for lack of time.
    private var firstInTime = 0

    /// The number of commands without a reply, including those whose time is over.
    var count: Int { replies.count - first }

    mutating func append(_ reply: PendingReply) { replies.append(reply) }

    /// Removes the command whose reply arrives next.
    mutating func takeFirst() -> PendingReply? {
        guard first < replies.count else { return nil }
        let reply = replies[first].take()
        first += 1
        firstInTime = max(firstInTime, first)
        removeTaken()
        return reply
    }

    /// When the time of the oldest command is over; nil without one. A command with an earlier
    /// deadline than one before it waits as long as that one.
    var nextDeadline: Instant? {
        firstInTime < replies.count ? replies[firstInTime]?.deadline : nil
    }

    /// The next command whose time is over at `now`; it stays in the queue.
    mutating func nextExpired(at now: Instant) -> PendingReply? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        firstInTime += 1
        return replies[firstInTime - 1]
    }

    /// Removes all, the oldest first.
    mutating func takeAll() -> [PendingReply] {
        let all = replies.compactMap(\.self)
        self = PendingReplies()
        return all
    }

    /// Amortised: moves the rest only when as many were taken.
    private mutating func removeTaken() {
        guard first == replies.count || (first >= 64 && first * 2 >= replies.count) else { return }
        replies.removeFirst(first)
        firstInTime -= first
        first = 0
    }
}
