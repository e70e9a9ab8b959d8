import Promises
import Synchronization
import Testing

/// F112 to F117: work that runs once.
@Suite struct WorkRows {
    let context = ManualContext()

    @Test("F112 F114: work runs once; a second start is rejected") func aSecondStartIsRejected() {
        let work = Doubling()
        let first = work.start(with: 4, on: context)
        let second = work.start(with: 5, on: context)
        #expect(first.isPending)
        context.drain()
        #expect(first.value == 8)
        #expect(second.error as? PromiseError == .badInput)
        #expect(work.start(with: 6, on: context).error as? PromiseError == .badInput)
    }

    @Test("F113: states only advance") func statesAdvanceOnly() {
        let work = Stoppable {}
        var states = [work.state]
        let promise = work.start(on: context)
        states.append(work.state)
        context.drain()
        states.append(work.state)
        work.finish()
        states.append(work.state)
        #expect(states == [.pending, .enqueued, .executing, .completed])
        #expect(promise.value == 1)
        let failing = Stoppable {}
        _ = failing.start(on: context)
        context.drain()
        failing.fail()
        #expect(failing.state == .failed)
        work.cancel()
        #expect(work.state == .completed)
    }

    @Test("F115: work that drops its resolver is abandoned")
    func workThatDropsItsResolverIsAbandoned() {
        final class Lazy: Work<Void, Int>, @unchecked Sendable {}
        let promise = Lazy().start(on: context)
        context.drain()
        #expect(promise.error as? PromiseError == .abandoned)
    }

    enum Moment: CaseIterable { case beforeStart, beforeItsTurn, whileExecuting }

    @Test("F116: wasCancelled runs once, on its context", arguments: Moment.allCases)
    func wasCancelledRunsOnceOnItsContext(moment: Moment) {
        let context = context
        let stopped = Journal<Bool>()
        let work = Stoppable { stopped.add(context.isCurrent) }
        if moment == .beforeStart { work.cancel(because: Failure("early")) }
        let promise = work.start(on: context)
        if moment == .beforeItsTurn { work.cancel() }
        context.drain()
        if moment == .whileExecuting { promise.cancel() }
        context.drain()
        #expect(stopped.entries == [true])
        #expect(promise.error is Cancelled)
        #expect(work.state == .cancelled)
        #expect(work.isRunning.load(ordering: .relaxed) == (moment == .whileExecuting))
        #expect(work.start(on: context).error as? PromiseError == .badInput)
        context.drain()
        #expect(stopped.entries == [true])
    }

    @Test("F117: work starts on a context, with a pool, alone or as a group")
    func workStartsOnAContextWithAPool() {
        let pool = CancellationPool()
        let works = (1...3).map { _ in Doubling() }
        let group = all(
            zip(works, 1...).map { $0.start(with: $1, on: context, in: pool) })
        context.drain()
        #expect(group.value == [2, 4, 6])
    }

    @Test("F117: the promise keeps the work alive until it is settled")
    func thePromiseKeepsTheWorkAliveUntilSettled() {
        weak var seen: Stoppable?
        let promise: Promise<Int>
        do {
            let work = Stoppable {}
            seen = work
            promise = work.start(on: context)
        }
        context.drain()
        #expect(seen != nil)
        seen?.finish()
        context.drain()
        #expect(promise.value == 1)
        #expect(seen == nil)
    }
}
