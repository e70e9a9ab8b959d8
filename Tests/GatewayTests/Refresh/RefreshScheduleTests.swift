import Basics
import Testing

@testable import Gateway

/// When a value is fetched, and how long it is used.
@Suite struct RefreshScheduleTests {
    private func at(_ seconds: Int) -> Instant {
        Instant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// As for the keys of an issuer, unless `change` states otherwise.
    private func schedule(
        stale: Int = 1000, _ change: (inout RefreshRules) -> Void = { _ in }
    ) -> RefreshSchedule {
        var rules = RefreshRules(
            lifetime: .seconds(600), lifetimes: .seconds(60)...(.seconds(86_400)),
            stale: .seconds(stale), interval: .seconds(30), pauseMax: .seconds(30))
        change(&rules)
        return RefreshSchedule(rules, now: at(0))
    }

    @Test func firstFetchIsDueAtOnce() {
        let schedule = schedule()
        #expect(schedule.due == at(0))
        #expect(schedule.mayFetch(at: at(0)))
        #expect(!schedule.isUsable(at: at(0)))
    }

    /// Before the first value: after 1, 2, 4 ... seconds, at most `interval`.
    @Test func firstFetchesAreRepeatedSooner() {
        var schedule = schedule()
        var start = 0
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            #expect(schedule.mayFetch(at: at(start)))
            schedule.recordStart(at: at(start))
            #expect(schedule.retryAfter(at: at(start)) >= 2)
            schedule.recordFailure(at: at(start))
            #expect(schedule.due == at(start + pause))
            #expect(!schedule.mayFetch(at: at(start + pause - 1)))
            start += pause
        }
        for _ in 0..<100 { schedule.recordFailure(at: at(start)) }
        #expect(schedule.due == at(start))
    }

    @Test func fetchesHaveADistance() {
        var schedule = schedule()
        schedule.recordStart(at: at(-100))
        schedule.recordSuccess(at: at(-100), lifetime: nil)
        schedule.recordStart(at: at(0))
        #expect(schedule.retryAfter(at: at(0)) == 31 && schedule.retryAfter(at: at(29)) == 2)
        #expect(schedule.retryAfter(at: at(100)) == 1)
        schedule.recordFailure(at: at(5))
        #expect(schedule.due == at(30))
        #expect(!schedule.mayFetch(at: at(29)) && schedule.mayFetch(at: at(30)))
        schedule.recordStart(at: at(30))
        // A slow failure.
        schedule.recordFailure(at: at(70))
        #expect(schedule.due == at(70))
    }

    @Test(arguments: [(nil, 600), (300, 300), (1, 60), (0, 60), (10_000_000, 86_400)])
    func lifetimeDecides(_ lifetime: Int?, _ expected: Int) {
        var schedule = schedule()
        schedule.recordStart(at: at(0))
        schedule.recordSuccess(at: at(1), lifetime: lifetime.map { .seconds($0) })
        #expect(schedule.due == at(1 + expected))
        #expect(schedule.fetchedAt == at(1))
        #expect(schedule.isUsable(at: at(1000 + expected)))
        #expect(!schedule.isUsable(at: at(1001 + expected)))
    }

    @Test func valueIsUsedWhileARefreshRuns() {
        var schedule = schedule(stale: 0)
        schedule.recordStart(at: at(0))
        schedule.recordSuccess(at: at(0), lifetime: nil)
        #expect(schedule.isUsable(at: at(599)) && !schedule.isUsable(at: at(600)))
        schedule.recordStart(at: at(600))
        #expect(schedule.isUsable(at: at(603)))
        schedule.recordFailure(at: at(604))
        #expect(!schedule.isUsable(at: at(604)))
        // A retry that begins later does not make them usable again.
        schedule.recordStart(at: at(630))
        #expect(!schedule.isUsable(at: at(631)))
    }

    /// Values that must never be used after their lifetime, such as tokens.
    @Test func withoutStaleAValueIsNotUsedWhileARefreshRuns() {
        var schedule = schedule { $0.stale = nil }
        schedule.recordStart(at: at(0))
        schedule.recordSuccess(at: at(0), lifetime: nil)
        schedule.recordStart(at: at(590))
        #expect(schedule.isUsable(at: at(599)) && !schedule.isUsable(at: at(600)))
    }

    @Test(arguments: [(0, 480), (10, 540), (20, 600)])
    func refreshBeginsAtARandomTimeOfTheLastFifth(_ drawn: Int, _ expected: Int) {
        var schedule = schedule { $0.refreshPercent = 80...100 }
        schedule.recordStart(at: at(0))
        var bound = 0
        schedule.recordSuccess(at: at(0), lifetime: nil) {
            bound = $0
            return drawn
        }
        #expect(bound == 21 && schedule.due == at(expected))
        // The lifetime stays the same.
        #expect(schedule.isUsable(at: at(1599)) && !schedule.isUsable(at: at(1600)))
    }

    @Test func withoutARangeNoRandomNumberIsDrawn() {
        var schedule = schedule()
        schedule.recordStart(at: at(0))
        schedule.recordSuccess(at: at(0), lifetime: nil) { _ in
            Issue.record("a number was drawn")
            return 0
        }
        #expect(schedule.due == at(600))
    }

    /// The pause begins anew with each series of failures; a success ends it.
    @Test func retriesOfAValueWithoutAnIntervalBackOff() {
        var schedule = schedule {
            $0.interval = .zero
            $0.pauseMax = .seconds(4)
        }
        for begin in [0, 1000] {
            schedule.recordStart(at: at(begin))
            schedule.recordSuccess(at: at(begin), lifetime: nil)
            #expect(!schedule.isFailing && schedule.mayFetch(at: at(begin)))
            var start = begin + 600
            for pause in [1, 2, 4, 4] {
                schedule.recordStart(at: at(start))
                schedule.recordFailure(at: at(start))
                #expect(schedule.isFailing && schedule.due == at(start + pause))
                start += pause
            }
        }
    }

    @Test func onlyOneFetchRunsAndNoneAfterTheStop() {
        var schedule = schedule { $0.interval = .zero }
        schedule.recordStart(at: at(0))
        #expect(!schedule.mayFetch(at: at(100)))
        schedule.recordSuccess(at: at(100), lifetime: nil)
        #expect(schedule.mayFetch(at: at(100)))
        schedule.stop()
        #expect(!schedule.mayFetch(at: at(1000)) && schedule.isStopped)
    }

    /// Requests that began before a reload may still need the value.
    @Test func aValueInUseDuringAFetchStaysUsableAfterTheStop() {
        var schedule = schedule { $0.stale = .zero }
        schedule.recordStart(at: at(0))
        schedule.recordSuccess(at: at(0), lifetime: .seconds(600))
        schedule.recordStart(at: at(600))
        #expect(schedule.isUsable(at: at(601)))
        schedule.stop()
        #expect(schedule.isUsable(at: at(601)) && !schedule.mayFetch(at: at(10_000)))
    }
}
