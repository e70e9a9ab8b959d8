import Basics
import Testing

@testable import Gateway

/// When the keys of an issuer are fetched, and how long they are used.
@Suite struct KeyScheduleTests {
    private func at(_ seconds: Int) -> Instant {
        Instant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private func schedule(stale: Int = 1000) -> KeySchedule {
        KeySchedule(
            refresh: .seconds(600), stale: .seconds(stale), interval: .seconds(30), now: at(0))
    }

    @Test func firstFetchIsDueAtOnce() {
        let schedule = schedule()
        #expect(schedule.due == at(0))
        #expect(schedule.mayFetch(at: at(0)))
        #expect(!schedule.isUsable(at: at(0)))
    }

    /// Before the first set: after 1, 2, 4 ... seconds, at most `interval`.
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
        #expect(!schedule.mayFetch(at: at(29)) && schedule.mayFetch(at: at(30)))
        #expect(schedule.retryAfter(at: at(0)) == 31 && schedule.retryAfter(at: at(29)) == 2)
        #expect(schedule.retryAfter(at: at(100)) == 1)
        schedule.recordFailure(at: at(5))
        #expect(schedule.due == at(30))
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

    @Test func keysAreUsedWhileARefreshRuns() {
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
}
