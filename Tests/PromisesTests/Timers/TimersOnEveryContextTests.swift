import Dispatch
import Promises
import PromisesDispatch
import Testing

/// The operators of time on every kind of context, with other consumers of the same promise. A
/// timer's node waits in the list of its parent: the context must not change that list with the
/// timer's job. F81 to F87.
@Suite(.timeLimit(.minutes(5))) struct TimersOnEveryContextTests {
    static let soon = Duration.milliseconds(5)

    @Test(
        "timeout and atLeast keep the consumers before and after them in the list",
        arguments: TimedContext.allCases)
    func timersKeepTheOtherConsumers(_ kind: TimedContext) async {
        await kind.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = (0..<3).map { number in promise.map { $0 + number } }
            let late = promise.timeout(Self.soon)
            let between = promise.map { $0 + 3 }
            let held = promise.atLeast(Self.soon)
            let behind = (4..<7).map { number in promise.map { $0 + number } }
            await kind.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            await kind.settle([after(Self.soon * 2, on: context).promise], on: context)
            #expect(!resolver.isCancelled && held.isPending)
            resolver.fulfill(10)
            let others = before + [between] + behind
            await kind.settle(others + [held], on: context)
            #expect(others.map(\.value) == [10, 11, 12, 13, 14, 15, 16])
            #expect(held.value == 10)
        }
    }

    @Test("the same for local promises on that context", arguments: TimedContext.serial)
    func timersKeepTheOtherLocalConsumers(_ kind: TimedContext) async throws {
        try await kind.use { context in
            let answer = Resolver<Int>(on: context).shared()
            let (late, others) = try await kind.run(on: context) {
                LocalContext.run(on: context) { local in
                    let promise = answer.promise.on(local)
                    let before = promise.map { $0 + 1 }.shared
                    let late = promise.timeout(Self.soon).shared
                    let held = promise.atLeast(Self.soon).shared
                    return (late, [before, held, promise.map { $0 + 2 }.shared])
                }
            }
            await kind.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            answer.fulfill(10)
            await kind.settle(others, on: context)
            #expect(others.map(\.value) == [11, 10, 12])
        }
    }

    @Test("outcome and timer may both wait for a busy context", arguments: TimedContext.selfDriven)
    func outcomeAndTimerMayWaitForABusyContext(_ kind: TimedContext) async {
        await kind.use { context in
            for _ in 0..<5 {
                let resolver = Resolver<Int>(on: context).shared()
                let promise = resolver.promise
                let before = promise.map { $0 + 1 }
                let limited = promise.timeout(.milliseconds(1))
                let held = promise.atLeast(.milliseconds(1))
                let behind = promise.map { $0 + 2 }
                // A job of the context sets the timers.
                _ = await Promise.value(0, on: context).map { $0 }.settled.get()
                let blocker = Blocker(on: context)
                // Enqueues the four handlers.
                resolver.fulfill(1)
                // The timers fire meanwhile.
                await after(.milliseconds(5), on: QueueContext(.global())).get()
                blocker.stop()
                await kind.settle([before, limited, held, behind], on: context)
                #expect([before, held, behind].map(\.value) == [2, 1, 3])
                // The timer may have fired before the outcome.
                let isLate = limited.error as? PromiseError == .timedOut
                #expect(limited.value == 1 || isLate)
                // The context still runs later jobs.
                let next = Promise.value(5, on: context).map { $0 }
                await kind.settle([next], on: context)
                #expect(next.value == 5)
            }
        }
    }

    @Test(
        "a timer that fires while the context is busy keeps the list",
        arguments: TimedContext.selfDriven)
    func aTimerThatFiresWhileBusyKeepsTheList(_ kind: TimedContext) async {
        await kind.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let late = promise.timeout(.milliseconds(1))
            let held = promise.atLeast(.milliseconds(1))
            let behind = promise.map { $0 + 2 }
            let blocker = Blocker(on: context)
            await after(.milliseconds(5), on: QueueContext(.global())).get()
            blocker.stop()
            await kind.settle([late], on: context)
            #expect(late.error as? PromiseError == .timedOut)
            resolver.fulfill(1)
            await kind.settle([before, held, behind], on: context)
            #expect([before, held, behind].map(\.value) == [2, 1, 3])
        }
    }

    @Test("delayed, after, retry and poll have several consumers", arguments: TimedContext.allCases)
    func delayOperatorsHaveSeveralConsumers(_ kind: TimedContext) async {
        await kind.use { context in
            let delayed = Promise.value(1, on: context).delayed(by: Self.soon)
            let fired = after(Self.soon, on: context).promise
            let policy = RetryPolicy(
                maximumAttempts: 3,
                delay: RetryPolicy.backoff(from: .milliseconds(1), upTo: Self.soon))
            let retried = retry(policy, on: context) { attempt in
                attempt < 3 ? .error(Failure("x"), on: context) : .value(attempt, on: context)
            }
            let evaluations = Journal<Int>()
            let polled = poll(every: .milliseconds(1), on: context, until: { $0 == 3 }) {
                evaluations.add(1)
                return .value(evaluations.entries.count, on: context)
            }
            let all = [delayed, fired.map { 2 }, retried, polled]
            let consumers = all.flatMap { one in [one.map { $0 + 10 }, one.map { $0 + 20 }] }
            await kind.settle(consumers, on: context)
            #expect(consumers.map(\.value) == [11, 21, 12, 22, 13, 23, 13, 23])
        }
    }

    @Test(
        "a cancelled timeout keeps the list after its delay",
        arguments: TimedContext.allCases)
    func aCancelledTimeoutKeepsTheList(_ kind: TimedContext) async {
        await kind.use { context in
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let limited = promise.timeout(.milliseconds(1))
            let held = promise.atLeast(.milliseconds(1))
            limited.cancel()
            held.cancel()
            await kind.settle([after(Self.soon, on: context).promise], on: context)
            resolver.fulfill(1)
            await kind.settle([before], on: context)
            #expect(before.value == 2)
            #expect(limited.error is Cancelled && held.error is Cancelled)
        }
    }
}
