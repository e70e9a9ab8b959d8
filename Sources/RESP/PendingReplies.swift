import Basics
import Promises

/// A command whose reply is expected.
final class PendingReply {
    private var resolver: LocalResolver<RESPValue>?
    let deadline: Instant
    /// Its deadline has passed.
    private(set) var isLate = false
    /// The bytes of the command until they are written to a connection.
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

    /// Fails the command because its deadline has passed.
    func expire() {
        isLate = true
        fail(.timedOut)
    }
}

/// The commands of one connection in the order in which they were written, which is the order of their
/// replies.
///
/// A command whose deadline has passed stays in the queue: its reply, which may still arrive, must not be
/// taken for the reply to the next command.
struct PendingReplies {
    private var replies: [PendingReply?] = []
    /// The index of the oldest command.
    private var first = 0
    /// The index of the oldest command whose deadline has not passed.
    private var firstInTime = 0

    /// The number of commands without a reply, including those whose deadline has passed.
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

    /// The deadline of the oldest command; nil without one. A command whose deadline is earlier
    /// than the limit of one before it waits as long as that one.
    var nextDeadline: Instant? {
        firstInTime < replies.count ? replies[firstInTime]?.deadline : nil
    }

    /// The next command whose deadline has passed at `now`; it stays in the queue.
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
