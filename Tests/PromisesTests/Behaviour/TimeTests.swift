import Promises
import Testing

/// Behaviours 38 to 43, in virtual time, with both promise types.
@Suite(.timeLimit(.minutes(5))) struct TimeTests {
    let context = ManualContext()

    @Test(
        "F81 (B38): after a zero or negative delay is soon",
        arguments: [Duration.zero, .seconds(-1)])
    func afterAZeroOrNegativeDelayIsSoon(delay: Duration) {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            local.after(delay).done { notes.add("fired") }.cauterize()
            notes.add("called")
            context.advance(by: .zero)
            #expect(notes.entries == ["called", "fired"])
        }
    }

    @Test func cancellingALocalDelayStopsItsTimer() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let delay = local.after(.seconds(1))
            delay.done { notes.add("fired") }.cauterize()
            delay.cancel()
            context.advance(by: .seconds(2))
            #expect(delay.error is Cancelled)
            #expect(notes.entries == [])
        }
    }

    @Test("F82 (B39, B40): timeout rejects and stops the work") func timeoutRejectsAndStopsTheWork()
    {
        let journal = Journal<String>()
        let slow = Resolver<Int>(on: context)
        slow.onCancel { cause in journal.add("stopped \(cause as? PromiseError == .timedOut)") }
        let late = slow.promise.timeout(.seconds(1))
        let fast = Promise.value(1, on: context).timeout(.seconds(1))
        context.drain()
        #expect(fast.value == 1)
        #expect(context.liveTimers == 1)
        context.advance(by: .milliseconds(999))
        #expect(late.isPending)
        context.advance(by: .milliseconds(1))
        #expect(late.error as? PromiseError == .timedOut)
        #expect(journal.entries == ["stopped true"])
        #expect(context.liveTimers == 0)
        slow.fulfill(1)
        context.drain()
        #expect(late.error as? PromiseError == .timedOut)
    }

    @Test("F82: a cancelled timeout leaves no timer")
    func timeoutOfACancelledPromiseLeavesNoTimer() {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let work = resolver.promise
            let other = work.map { $0 }
            let limited = work.timeout(.seconds(1))
            limited.cancel()
            #expect(context.liveTimers == 0)
            resolver.fulfill(3)
            context.drain()
            #expect(other.value == 3)
        }
    }

    @Test("F82: timeout from another thread uses the context's timers")
    func timeoutFromAnotherThreadUsesTheContextsTimers() {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        let limited = Journal<Promise<Int>>()
        onAnotherThread { limited.add(promise.timeout(.seconds(1))) }
        context.drain()
        #expect(context.liveTimers == 1)
        onAnotherThread { limited.entries[0].cancel() }
        context.drain()
        #expect(context.liveTimers == 0)
        #expect(limited.entries[0].error is Cancelled)
        _ = resolver.isCancelled
    }

    @Test("F83 (B41): atLeast adds nothing to slow work") func atLeastAddsNothingToSlowWork() {
        let resolver = Resolver<Int>(on: context)
        let delayed = resolver.promise.atLeast(.milliseconds(50))
        context.advance(by: .milliseconds(60))
        resolver.fulfill(1)
        context.drain()
        #expect(delayed.value == 1)
        #expect(context.liveTimers == 0)
    }

    @Test("F83 (B41): atLeast holds failures on request", arguments: [true, false])
    func atLeastHoldsFailuresOnRequest(
        holding: Bool
    ) {
        let delayed = Promise<Int>.error(Failure("x"), on: context)
            .atLeast(.milliseconds(50), holdingFailures: holding)
        context.advance(by: .milliseconds(49))
        #expect(delayed.isPending == holding)
        context.advance(by: .milliseconds(1))
        #expect(delayed.error is Failure)
        #expect(context.liveTimers == 0)
    }

    @Test("F83: cancelling atLeast leaves no timer", arguments: [true, false])
    func cancellingAtLeastLeavesNoTimer(isSettled: Bool) {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let delayed = resolver.promise.atLeast(.milliseconds(50))
            if isSettled { resolver.fulfill(1) } else { _ = consume resolver }
            delayed.cancel()
            context.drain()
            #expect(delayed.error is Cancelled)
            #expect(context.liveTimers == 0)
        }
    }

    @Test("F83: cancelling atLeast while it holds leaves no timer")
    func cancellingAtLeastWhileItHoldsLeavesNoTimer() {
        LocalContext.run(on: context) { local in
            let delayed = local.value(1).atLeast(.milliseconds(50))
            context.drain()
            #expect(delayed.isPending)
            delayed.cancel()
            #expect(context.liveTimers == 0)
        }
    }

    @Test("F87 (B43): delayed delays values only") func delayedHoldsValuesOnly() {
        LocalContext.run(on: context) { local in
            let value = local.value(1).delayed(by: .seconds(1))
            let error = local.error(Failure("x"), as: Int.self).delayed(by: .seconds(1))
            context.drain()
            #expect(value.isPending)
            #expect(error.error is Failure)
            context.advance(by: .seconds(1))
            #expect(value.value == 1)
        }
    }

    @Test func timeoutAndAtLeastCombine() {
        LocalContext.run(on: context) { local in
            let never = local.never(as: Int.self)
                .timeout(.milliseconds(20)).atLeast(.milliseconds(50), holdingFailures: true)
            context.advance(by: .milliseconds(49))
            #expect(never.isPending)
            context.advance(by: .milliseconds(1))
            #expect(never.error as? PromiseError == .timedOut)
        }
    }
}
