import Testing

@testable import Promises

/// The timers of contexts without timers of their own: stopped timers do not stay in memory until
/// their time.
@Suite(.timeLimit(.minutes(5))) struct PoolTimerTests {
    /// A job that runs `body` on `SharedPool`, as the job of a timer.
    private func job(_ body: @escaping @Sendable () -> Void = {}) -> PromiseJob {
        let placement = Placement.context(SharedPool.shared)
        return PromiseJob(Node.make(Void.self, placement: placement) { _ in body() }, isTimer: true)
    }

    @Test func cancelledTimersAreFreed() {
        let timers = PoolTimers()
        let kept = PoolTimer(job(), after: .seconds(7_200), on: SharedPool.shared, in: timers)
        for round in 1...100 {
            let some = (0..<100).map { _ in
                PoolTimer(job(), after: .seconds(3_600), on: SharedPool.shared, in: timers)
            }
            for timer in some { timer.cancel(because: nil) }
            #expect(timers.count <= 32, "round \(round)")
        }
        kept.cancel(because: nil)
    }

    @Test func cancellingFreesTheJobAtOnce() {
        let timers = PoolTimers()
        weak var weakToken: Token?
        let timer: PoolTimer
        do {
            let token = Token()
            weakToken = token
            let job = job { [token] in _ = token }
            timer = PoolTimer(job, after: .seconds(3_600), on: SharedPool.shared, in: timers)
        }
        #expect(weakToken != nil)
        timer.cancel(because: nil)
        timer.cancel(because: nil)
        #expect(weakToken == nil)
    }

    @Test func timersFireInTheOrderOfTheirTimes() async {
        let timers = PoolTimers()
        let journal = Journal<Int>()
        let end = Resolver<Void>().shared()
        // All are due at different times, and none in the order in which they were added.
        let delays = [40, 10, 30, 20, 0, 50].map { Duration.milliseconds($0) }
        let start = SystemClock.reading
        let all = delays.map { delay in
            let job = job {
                #expect(SystemClock.reading - start >= delay)
                journal.add(Int(delay / .milliseconds(1)))
                if journal.entries.count == 5 { end.fulfill(()) }
            }
            return PoolTimer(job, after: delay, on: SharedPool.shared, in: timers)
        }
        all[2].cancel(because: nil)
        _ = await end.promise.settled.get()
        #expect(journal.entries == [0, 10, 20, 40, 50])
        #expect(timers.count == 0)
    }

    @Test(
        "timers that an outcome stops are freed",
        arguments: [
            SharedPool.shared, InlineContext.shared, BlockingPool.shared, MainActorContext.shared,
        ] as [any ExecutionContext])
    func stoppedTimersAreFreed(_ context: any ExecutionContext) async {
        for _ in 0..<50 {
            let ends = (0..<100).map { _ in
                let resolver = Resolver<Int>(on: context).shared()
                let end = resolver.promise.timeout(.seconds(3_600))
                // The timer is set in a turn of the context.
                Promise.value(1, on: context).whenSettled { _ in resolver.fulfill(1) }
                return end
            }
            for end in ends { _ = await end.settled.get() }
        }
        // Less those that were cancelled last, and the timers of other tests.
        #expect(PoolTimers.shared.count < 1_000)
    }
}
