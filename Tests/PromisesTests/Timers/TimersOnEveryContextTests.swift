import Dispatch
import Promises
import PromisesDispatch
import Testing

/// The operators of time on every kind of context, beside other consumers of the same promise. A
/// timer's node waits in the list of its parent: what the context does with the timer's job must not
/// disturb that list. F81 to F87.
@Suite(.timeLimit(.minutes(5))) struct TimersOnEveryContextTests {
    static let soon = Duration.milliseconds(5)

    @Test(
        "timeout and atLeast leave the consumers before and after them in the list",
        arguments: TimedPlace.allCases)
    func severalConsumers(_ place: TimedPlace) async {
        await place.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = (0..<3).map { number in promise.map { $0 + number } }
            let late = promise.timeout(Self.soon)
            let between = promise.map { $0 + 3 }
            let held = promise.atLeast(Self.soon)
            let behind = (4..<7).map { number in promise.map { $0 + number } }
            await place.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            await place.settle([after(Self.soon * 2, on: context).promise], on: context)
            #expect(!resolver.isCancelled && held.isPending)
            resolver.fulfill(10)
            let others = before + [between] + behind
            await place.settle(others + [held], on: context)
            #expect(others.map(\.value) == [10, 11, 12, 13, 14, 15, 16])
            #expect(held.value == 10)
        }
    }

    @Test("the same for promises of a core on that context", arguments: TimedPlace.serial)
    func severalLocalConsumers(_ place: TimedPlace) async throws {
        try await place.use { context in
            let answer = Resolver<Int>(on: context).shared()
            let (late, others) = try await place.run(on: context) {
                LocalContext.run(on: context) { local in
                    let promise = answer.promise.on(local)
                    let before = promise.map { $0 + 1 }.shared
                    let late = promise.timeout(Self.soon).shared
                    let held = promise.atLeast(Self.soon).shared
                    return (late, [before, held, promise.map { $0 + 2 }.shared])
                }
            }
            await place.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            answer.fulfill(10)
            await place.settle(others, on: context)
            #expect(others.map(\.value) == [11, 10, 12])
        }
    }

    @Test("outcome and timer may both wait for a busy context", arguments: TimedPlace.selfDriven)
    func busy(_ place: TimedPlace) async {
        await place.use { context in
            for _ in 0..<5 {
                let resolver = Resolver<Int>(on: context).shared()
                let promise = resolver.promise
                let before = promise.map { $0 + 1 }
                let limited = promise.timeout(.milliseconds(1))
                let held = promise.atLeast(.milliseconds(1))
                let behind = promise.map { $0 + 2 }
                // The timers run once they are set, which is a job of the context.
                _ = await Promise.value(0, on: context).map { $0 }.settled.get()
                let blocker = Blocker(on: context)
                // Enqueues the four.
                resolver.fulfill(1)
                // And this lets the timers ring.
                await after(.milliseconds(5), on: QueueContext(.global())).get()
                blocker.stop()
                await place.settle([before, limited, held, behind], on: context)
                #expect([before, held, behind].map(\.value) == [2, 1, 3])
                // The timer may have been faster than the outcome.
                let isLate = limited.error as? PromiseError == .timedOut
                #expect(limited.value == 1 || isLate)
                // And the context still runs what comes.
                let next = Promise.value(5, on: context).map { $0 }
                await place.settle([next], on: context)
                #expect(next.value == 5)
            }
        }
    }

    @Test(
        "a timer that has rung behind a busy context leaves the list alone, too",
        arguments: TimedPlace.selfDriven)
    func rungWhileBusy(_ place: TimedPlace) async {
        await place.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let late = promise.timeout(.milliseconds(1))
            let held = promise.atLeast(.milliseconds(1))
            let behind = promise.map { $0 + 2 }
            let blocker = Blocker(on: context)
            await after(.milliseconds(5), on: QueueContext(.global())).get()
            blocker.stop()
            await place.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            resolver.fulfill(1)
            await place.settle([before, held, behind], on: context)
            #expect([before, held, behind].map(\.value) == [2, 1, 3])
        }
    }

    @Test("delayed, after, retry and poll serve several consumers", arguments: TimedPlace.allCases)
    func pauses(_ place: TimedPlace) async {
        await place.use { context in
            let delayed = Promise.value(1, on: context).delayed(by: Self.soon)
            let rang = after(Self.soon, on: context).promise
            let policy = RetryPolicy(
                maximumAttempts: 3,
                delay: RetryPolicy.backoff(from: .milliseconds(1), upTo: Self.soon))
            let retried = retry(policy, on: context) { attempt in
                attempt < 3 ? .error(Failure("x"), on: context) : .value(attempt, on: context)
            }
            let asked = Journal<Int>()
            let polled = poll(every: .milliseconds(1), on: context, until: { $0 == 3 }) {
                asked.add(1)
                return .value(asked.entries.count, on: context)
            }
            let all = [delayed, rang.map { 2 }, retried, polled]
            let consumers = all.flatMap { one in [one.map { $0 + 10 }, one.map { $0 + 20 }] }
            await place.settle(consumers, on: context)
            #expect(consumers.map(\.value) == [11, 21, 12, 22, 13, 23, 13, 23])
        }
    }

    @Test(
        "a cancelled timeout stays out of the list when its timer would have rung",
        arguments: TimedPlace.allCases)
    func cancelled(_ place: TimedPlace) async {
        await place.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let limited = promise.timeout(.milliseconds(1))
            let held = promise.atLeast(.milliseconds(1))
            limited.cancel()
            held.cancel()
            await place.settle([after(Self.soon, on: context).promise], on: context)
            resolver.fulfill(1)
            await place.settle([before], on: context)
            #expect(before.value == 2)
            #expect(limited.error is Cancelled && held.error is Cancelled)
        }
    }
}
