import Dispatch
import Promises
import PromisesDispatch
import Testing

/// Durations that exceed every clock: none of them ends the process, and each behaves as expected.
@Suite(.timeLimit(.minutes(5))) struct DurationBoundsTests {
    static let huge: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.max) * 8, .seconds(1 << 40),
        .seconds(Int64.max) + Duration(secondsComponent: 0, attosecondsComponent: 999_999),
    ]
    static let tiny: [Duration] = [
        .zero, .seconds(-1), .seconds(Int64.min), .seconds(Int64.min) * 8, .nanoseconds(-1),
        Duration(secondsComponent: 0, attosecondsComponent: 1),
        Duration(secondsComponent: 0, attosecondsComponent: -1),
    ]

    @Test(arguments: TimedContext.allCases, huge)
    func hugeDelaysStayPending(_ kind: TimedContext, _ span: Duration) async {
        await kind.use { context in
            let never = Promise<Int>.never(on: context)
            let waiting = [
                never.timeout(span), Promise.value(1, on: context).atLeast(span),
                Promise.value(1, on: context).delayed(by: span),
                after(span, on: context).promise.map { 1 },
                poll(every: span, on: context, until: { _ in false }) { .value(1, on: context) },
                retry(RetryPolicy(maximumAttempts: 2, delay: { _ in span }), on: context) { _ in
                    throw Failure("x")
                },
            ]
            await kind.settle([after(.milliseconds(2), on: context).promise], on: context)
            #expect(waiting.allSatisfy { $0.isPending })
            for one in waiting { one.cancel() }
        }
    }

    @Test(arguments: TimedContext.allCases, tiny)
    func zeroAndNegativeDelaysEndSoon(_ kind: TimedContext, _ span: Duration) async {
        await kind.use { context in
            let late = Promise<Int>.never(on: context).timeout(span)
            let fired = [
                Promise.value(1, on: context).atLeast(span),
                Promise.value(1, on: context).delayed(by: span),
                after(span, on: context).promise.map { 1 },
            ]
            await kind.settle([late] + fired, on: context)
            #expect(late.error as? PromiseError == .timedOut)
            #expect(fired.map(\.value) == [1, 1, 1])
        }
    }

    @Test func contextsReceiveBoundedDelays() async throws {
        for span in DurationBoundsTests.huge + DurationBoundsTests.tiny {
            let context = ManualContext()
            let scheduled = Forwarding(context)
            let limited = Promise<Int>.never(on: scheduled).timeout(span)
            #expect(scheduled.delays.entries.allSatisfy { (.zero ... .seconds(1 << 32)) ~= $0 })
            context.advance(by: span)
            #expect(limited.error as? PromiseError == .timedOut)
        }
    }

    @Test func virtualTimeNeitherOverflowsNorGoesBack() {
        let context = ManualContext()
        for _ in 0..<100 { context.advance(by: .seconds(Int64.max)) }
        let now = context.now
        context.advance(by: .seconds(-5))
        #expect(context.now == now)
    }

    @Test func backoffTakesAnyNumbers() {
        let chances = [
            0, 0.5, 1, -1, 2, .infinity, -.infinity, .nan, Double.greatestFiniteMagnitude,
        ]
        for chance in chances {
            for first in DurationBoundsTests.huge + DurationBoundsTests.tiny {
                for limit in DurationBoundsTests.huge + DurationBoundsTests.tiny {
                    let delay = RetryPolicy.backoff(from: first, upTo: limit, chance: { chance })
                    for attempt in [Int.min, -1, 0, 1, 2, 31, 64, Int.max] {
                        #expect((.zero ... .seconds(1 << 32)) ~= delay(attempt))
                    }
                }
            }
        }
        let delay = RetryPolicy.backoff(from: .seconds(1), upTo: .seconds(5), chance: { 0.5 })
        #expect(
            [1, 2, 3, 4].map(delay) == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(2.5)])
    }

    @Test(arguments: huge) func waitAcceptsHugeLimits(_ span: Duration) {
        let resolver = Resolver<Int>().shared()
        let promise = resolver.promise
        onAnotherThread {
            resolver.fulfill(1)
        }
        #expect(try! promise.map(on: .inline) { $0 }.wait(for: span) == 1)
    }

    @Test(arguments: tiny) func waitAcceptsZeroAndNegativeLimits(_ span: Duration) {
        let promise = Promise<Int>.never()
        #expect(throws: PromiseError.timedOut) { try promise.wait(for: span) }
    }
}

/// A context that forwards to another one, records the requested delays, and has a clock that the
/// test sets.
final class Forwarding: ExecutionContext {
    let delays = Journal<Duration>()
    private let context: ManualContext
    private let time = Journal<Duration>()

    init(_ context: ManualContext) { self.context = context }

    func setClock(_ reading: Duration) { time.add(reading) }

    var clockReading: Duration { time.entries.last ?? .zero }
    var isCurrent: Bool { context.isCurrent }
    func enqueue(_ job: consuming PromiseJob) { context.enqueue(job) }

    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        delays.add(delay)
        return context.schedule(after: delay, job)
    }
}

/// A delay counts from the call, even if the context sets its timer later.
@Suite(.timeLimit(.minutes(5))) struct DelayFromTheCallTests {
    let context = ManualContext()

    private enum Operator: CaseIterable {
        case timeout, atLeast, after

        func begin(_ delay: Duration, on context: any ExecutionContext) {
            switch self {
            case .timeout: Promise<Int>.never(on: context).timeout(delay).cauterize()
            case .atLeast: Promise<Int>.never(on: context).atLeast(delay).cauterize()
            case .after: Promises.after(delay, on: context).done {}
            }
        }
    }

    @Test(arguments: [(0, 320), (300, 20), (320, 0), (5_000, 0)])
    func delaysCountFromACallOnAnotherThread(busyFor busy: Int, rest: Int) {
        let forwarding = Forwarding(context)
        for one in Operator.allCases {
            forwarding.setClock(.zero)
            PromisesTests.onAnotherThread { one.begin(.milliseconds(320), on: forwarding) }
            // The context was busy, or ran on another thread.
            forwarding.setClock(.milliseconds(busy))
            context.drain()
        }
        #expect(forwarding.delays.entries == Array(repeating: .milliseconds(rest), count: 3))
    }

    @Test func delaysCountFromACallOnTheContext() {
        let forwarding = Forwarding(context)
        for one in Operator.allCases { one.begin(.milliseconds(320), on: forwarding) }
        #expect(forwarding.delays.entries == Array(repeating: .milliseconds(320), count: 3))
    }

    @Test func aClockThatGoesBackDoesNotShortenTheDelay() {
        let forwarding = Forwarding(context)
        forwarding.setClock(.seconds(10))
        PromisesTests.onAnotherThread { Operator.timeout.begin(.seconds(1), on: forwarding) }
        forwarding.setClock(.seconds(5))
        context.drain()
        #expect(forwarding.delays.entries == [.seconds(1)])
    }
}
