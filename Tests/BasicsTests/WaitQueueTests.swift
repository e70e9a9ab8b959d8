import Testing

@testable import Basics

@Suite struct WaitQueueTests {
    private var queue = WaitQueue<String>()

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private mutating func drained() -> [String] {
        var waiters: [String] = []
        while let waiter = queue.takeFirst() { waiters.append(waiter) }
        return waiters
    }

    @Test mutating func servesFirstInFirstOut() {
        for name in ["a", "b", "c"] { _ = queue.join(name) }
        #expect(queue.count == 3)
        #expect(drained() == ["a", "b", "c"])
        #expect(queue.count == 0 && queue.takeFirst() == nil)
    }

    @Test(arguments: [
        ([0], ["b", "c", "d"]), ([1], ["a", "c", "d"]), ([3], ["a", "b", "c"]),
        ([2, 1], ["a", "d"]), ([0, 1, 2, 3], []),
    ])
    func keepsItsOrderWhenEntriesLeave(leaving: [Int], rest: [String]) {
        var test = self
        let tickets = ["a", "b", "c", "d"].map { test.queue.join($0) }
        for index in leaving { #expect(test.queue.leave(tickets[index]) != nil) }
        #expect(test.queue.count == rest.count)
        #expect(test.drained() == rest)
    }

    @Test mutating func removesNothingForATicketThatWasServed() {
        let first = queue.join("a")
        #expect(queue.takeFirst() == "a")
        // The second entry has the slot of the first one.
        let second = queue.join("b")
        #expect(first.slot == second.slot)
        #expect(queue.leave(first) == nil)
        #expect(queue.count == 1)
        #expect(queue.leave(second) == "b")
        #expect(queue.leave(second) == nil)
        #expect(queue.count == 0)
    }

    @Test mutating func expiresEntriesAtTheirDeadlines() {
        _ = queue.join("a", until: at(5))
        let second = queue.join("b", until: at(6))
        _ = queue.join("c", until: at(7))
        #expect(queue.nextDeadline == at(5))
        #expect(queue.takeExpired(at: at(4)) == nil)
        #expect(queue.takeExpired(at: at(5)) == "a")
        #expect(queue.takeExpired(at: at(5)) == nil)
        queue.leave(second)
        #expect(queue.nextDeadline == at(7))
        #expect(queue.takeExpired(at: at(9)) == "c")
        #expect(queue.nextDeadline == nil && queue.takeExpired(at: at(9)) == nil)
    }

    @Test mutating func neverExpiresAnEntryWithoutDeadline() {
        _ = queue.join("a")
        #expect(queue.nextDeadline == nil)
        #expect(queue.takeExpired(at: at(.max / 1_000_000_000)) == nil)
        #expect(drained() == ["a"])
    }

    @Test mutating func reusesItsSlots() {
        for number in 0..<1000 {
            _ = queue.join("\(number)")
            let leaving = queue.join("leaves")
            queue.leave(leaving)
            #expect(queue.takeFirst() == "\(number)")
            #expect(leaving.slot < 2)
        }
    }
}
