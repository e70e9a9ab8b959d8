import Basics
import Reactor
import Testing

@Suite struct TimerQueueTests {
    private func at(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    /// Runs all timers that are due at `now`, as one loop iteration does.
    private func runIteration(_ queue: TimerQueue, at now: Int64) {
        let mark = queue.addedCount
        while let action = queue.takeDue(at: at(now), addedBefore: mark) { action() }
    }

    @Test func firesByDueTimeThenByOrderOfCreation() {
        let queue = TimerQueue()
        var fired: [String] = []
        for (due, name) in [(5, "e"), (1, "a"), (3, "b"), (3, "c"), (9, "z"), (3, "d")] {
            _ = queue.add(due: at(Int64(due))) { fired.append(name) }
        }
        runIteration(queue, at: 5)
        #expect(fired == ["a", "b", "c", "d", "e"])
        #expect(queue.earliest == at(9))
    }

    @Test func timerAddedDuringAnIterationWaitsForTheNext() {
        let queue = TimerQueue()
        var fired: [Int] = []
        _ = queue.add(due: at(1)) {
            fired.append(1)
            _ = queue.add(due: self.at(1)) { fired.append(2) }
        }
        runIteration(queue, at: 1)
        #expect(fired == [1])
        runIteration(queue, at: 1)
        #expect(fired == [1, 2])
    }

    @Test func cancelReleasesTheActionAtOnce() {
        final class Held {}
        let queue = TimerQueue()
        weak var held: Held?
        let timer: Timer
        do {
            let object = Held()
            held = object
            timer = queue.add(due: at(1)) { _ = object }
        }
        #expect(held != nil && timer.isPending)
        timer.cancel()
        #expect(held == nil && !timer.isPending && queue.count == 0)
    }

    @Test func cancelOfAFiredTimerHasNoEffect() {
        let queue = TimerQueue()
        let timer = queue.add(due: at(1)) {}
        runIteration(queue, at: 1)
        #expect(!timer.isPending)
        timer.cancel()
        #expect(queue.count == 0)
    }

    /// Releasing one action cancels another timer, whose action cancels a third.
    @Test func cancelMayCancelOtherTimersRecursively() {
        final class Canceller {
            let target: Timer
            init(_ target: Timer) { self.target = target }
            deinit { target.cancel() }
        }
        let queue = TimerQueue()
        let third = queue.add(due: at(3)) {}
        let second = queue.add(due: at(2)) { [canceller = Canceller(third)] in _ = canceller }
        let first = queue.add(due: at(1)) { [canceller = Canceller(second)] in _ = canceller }
        first.cancel()
        #expect(queue.count == 0 && !second.isPending && !third.isPending)
    }

    @Test func timersMayOutliveTheirQueue() {
        final class Canceller {
            var targets: [Timer] = []
            deinit { for target in targets { target.cancel() } }
        }
        var timers: [Timer] = []
        do {
            let queue = TimerQueue()
            let canceller = Canceller()
            timers = (1...3).map { due in queue.add(due: at(Int64(due))) { _ = canceller } }
            canceller.targets = timers
        }
        for timer in timers {
            #expect(!timer.isPending)
            timer.cancel()
        }
    }

    /// Each timer is due before the previous one, so that all but the first few are in the heap.
    @Test func timersInTheHeapAreOrderedAndCancelled() {
        let queue = TimerQueue()
        var fired: [Int64] = []
        let timers = (0..<40).map { number in
            let due = Int64(40 - number)
            return queue.add(due: at(due)) { fired.append(due) }
        }
        #expect(queue.earliest == at(1))
        for timer in timers where timer.due.map({ $0.nanoseconds % 3 == 0 }) ?? false {
            timer.cancel()
        }
        runIteration(queue, at: 40)
        #expect(fired == (1...40).filter { $0 % 3 != 0 })
    }

    /// A slot is reused; its previous timer cannot cancel the present one.
    @Test func expiredTimerCannotCancelTheNextOneInItsSlot() {
        let queue = TimerQueue()
        let first = queue.add(due: at(1)) {}
        first.cancel()
        let second = queue.add(due: at(2)) {}
        first.cancel()
        #expect(second.isPending && !first.isPending && queue.count == 1)
    }

    /// Compares lists and heap with a sorted array, over random additions, cancellations and
    /// iterations.
    @Test(arguments: UInt64(1)...20)
    func agreesWithASortedList(seed: UInt64) {
        let entropy = Entropy(seed: seed)
        let queue = TimerQueue()
        var model: [(due: Int64, number: Int, timer: Timer)] = []
        var fired: [Int] = []
        var number = 0
        for now in Int64(0)..<300 {
            for _ in 0..<entropy.below(6) {
                number += 1
                let due = now + Int64(entropy.below(40))
                let timer = queue.add(due: at(due)) { [number] in fired.append(number) }
                model.append((due, number, timer))
            }
            for _ in 0..<entropy.below(4) where !model.isEmpty {
                model.remove(at: entropy.below(model.count)).timer.cancel()
            }
            let due = model.filter { $0.due <= now }
            model.removeAll { $0.due <= now }
            fired = []
            runIteration(queue, at: now)
            let expected = due.sorted { ($0.due, $0.number) < ($1.due, $1.number) }.map(\.number)
            #expect(fired == expected)
            #expect(queue.count == model.count)
            #expect(queue.earliest == model.map { at($0.due) }.min())
        }
    }
}
