import Basics
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import Gateway

/// A value that is fetched, refreshed and handed to those who wait for it, in virtual time.
@Suite(.watched) struct RefreshedValueTests {
    private let network: SimNetwork
    private let loop: SimLoop
    private let source: Source

    init() {
        network = SimNetwork(seed: 1)
        loop = network.makeLoop("worker")
        source = Source(loop)
    }

    /// Numbers, each a second after the fetch began: 1, 2, 3 ... unless `isDown`.
    private final class Source {
        private let loop: SimLoop
        private let start: Instant
        var isDown = false
        var isUnchanged = false
        /// The former value of each fetch, and the seconds at its start.
        private(set) var fetches: [(former: Int?, at: Int64)] = []
        private(set) var events: [String] = []

        init(_ loop: SimLoop) {
            self.loop = loop
            start = loop.now
        }

        func fetch(_ former: Int?) -> LocalPromise<Fetched<Int>> {
            fetches.append((former, (loop.now - start).inNanoseconds / 1_000_000_000))
            return loop.local.value(()).delayed(by: .seconds(1)).map { [self] in
                if isDown { throw Down() }
                return Fetched(
                    changed: isUnchanged ? nil : (former ?? 0) + 1, lifetime: .seconds(10))
            }
        }

        func report(_ event: RefreshEvent<Int>) { events.append("\(event)") }
    }

    private struct Down: Error, CustomStringConvertible {
        var description: String { "down" }
    }

    private func value() -> RefreshedValue<Int> {
        RefreshedValue(
            RefreshRules(
                lifetime: .seconds(10), lifetimes: .seconds(10)...(.seconds(10)),
                stale: .seconds(5), interval: .seconds(2), pauseMax: .seconds(2)),
            loop: loop, fetch: source.fetch, report: source.report)
    }

    private func pass(_ seconds: Int) { network.advance(by: .seconds(seconds)) }

    /// The seconds at which the promise settled.
    private final class Waiter {
        private(set) var settled: Duration?
        let promise: LocalPromise<Void>?

        init(_ promise: LocalPromise<Void>?, _ loop: SimLoop) {
            self.promise = promise
            let start = loop.now
            promise?.whenSettled { [unowned self] _ in settled = loop.now - start }
        }
    }

    private func wait(_ value: RefreshedValue<Int>, _ seconds: Int) -> Waiter {
        Waiter(value.waitForFetch(until: loop.now + .seconds(seconds)), loop)
    }

    @Test func everyWaitOfATimeHasTheSameFetch() {
        let value = value()
        let waiters = (0..<3).map { _ in wait(value, 5) }
        #expect(source.fetches.count == 1 && value.usable == nil && value.age == nil)
        pass(1)
        #expect(waiters.map(\.settled) == [.seconds(1), .seconds(1), .seconds(1)])
        #expect(value.usable == 1 && value.age == .zero && source.fetches.count == 1)
        // The least time between two fetches: none starts, so there is nothing to wait for.
        #expect(value.waitForFetch(until: loop.now + .seconds(5)) == nil)
        #expect(value.retryAfter == 2)
        pass(1)
        #expect(value.waitForFetch(until: loop.now + .seconds(5)) != nil)
        value.stop()
    }

    @Test func aWaitEndsAtItsTimeAndTheFetchGoesOn() {
        let value = value()
        #expect(value.waitForFetch(until: loop.now) == nil)
        let waiter = Waiter(
            value.waitForFetch(until: loop.now + .milliseconds(300)), loop)
        let gone = wait(value, 5)
        gone.promise?.cancel()
        pass(1)
        #expect(waiter.settled == .milliseconds(300))
        #expect(value.usable == 1 && source.fetches.count == 1)
        value.stop()
    }

    @Test func refreshesInTheBackground() {
        let value = value()
        value.start()
        pass(12)
        #expect(value.usable == 2 && value.generation == 2)
        source.isUnchanged = true
        pass(11)
        #expect(source.fetches.map(\.at) == [0, 11, 22])
        #expect(source.fetches.map(\.former) == [nil, 1, 2])
        #expect(value.usable == 2 && value.generation == 2 && value.age == .zero)
        #expect(source.events == ["changed(1)", "changed(2)"])
        value.stop()
    }

    /// The former value is used for `stale` beyond its lifetime; only the changes of the state are
    /// reported.
    @Test func formerValueIsUsedWhileRefreshesFail() {
        let value = value()
        value.start()
        pass(1)
        source.isDown = true
        pass(14)
        #expect(source.fetches.map(\.at) == [0, 11, 13, 15] && value.usable == 1)
        pass(2)
        #expect(value.usable == nil && value.latest == 1 && value.age == .seconds(16))
        source.isDown = false
        pass(2)
        #expect(value.usable == 2)
        #expect(
            source.events == [
                "changed(1)", "failed(down, hasValue: true)", "recovered", "changed(2)",
            ])
        value.stop()
    }

    @Test func reloadKeepsValueAndTimes() {
        let value = value()
        value.start()
        pass(1)
        let other = Source(loop)
        value.continueWith(other.fetch, other.report)
        pass(9)
        #expect(value.usable == 1 && other.fetches.isEmpty)
        pass(2)
        #expect(value.usable == 2 && source.fetches.count == 1)
        #expect(other.fetches.map(\.at) == [10] && other.events == ["changed(2)"])
        value.stop()
    }

    @Test func stopCancelsTheFetchAndStartsNoMore() {
        let value = value()
        let waiter = wait(value, 5)
        value.stop()
        pass(20)
        #expect(value.usable == nil && source.events.isEmpty && source.fetches.count == 1)
        #expect(waiter.settled != nil && loop.pendingTimers == 0)
        #expect(value.waitForFetch(until: loop.now + .seconds(5)) == nil)
    }

    @Test func releasedValueLeavesNoTimer() {
        var value: RefreshedValue<Int>? = value()
        value?.start()
        pass(1)
        #expect(loop.pendingTimers == 1)
        value = nil
        pass(20)
        #expect(loop.pendingTimers == 0 && source.fetches.count == 1)
    }
}
