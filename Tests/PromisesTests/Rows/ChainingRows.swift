import Promises
import Testing

/// F30 to F63: chaining on success, on failure, cleanup.
@Suite(.timeLimit(.minutes(5))) struct ChainingRows {
    let context = ManualContext()

    private func failed(_ name: String = "x") -> Promise<Int> {
        .error(Failure(name), on: context)
    }

    @Test("F30: map transforms the value; a throw rejects; a rejection skips it")
    func mapTransformsAndRejects() {
        let journal = Journal<Int>()
        let good = Promise.value(1, on: context).map { $0 + 1 }
        let thrown = Promise.value(1, on: context).map { _ -> Int in throw Failure("thrown") }
        let skipped = failed().map { value in
            journal.add(value)
            return value
        }
        context.drain()
        #expect(good.value == 2)
        #expect(thrown.error as? Failure == Failure("thrown"))
        #expect(skipped.error as? Failure == Failure("x"))
        #expect(journal.entries == [])
    }

    @Test("F33: onValue observes, the value passes on, a throw rejects")
    func onValueObservesAndPassesOn() {
        let journal = Journal<Int>()
        let good = Promise.value(1, on: context).onValue { journal.add($0) }
        let bad = Promise.value(1, on: context).onValue { _ in throw Failure("x") }
        context.drain()
        #expect(good.value == 1)
        #expect(journal.entries == [1])
        #expect(bad.error is Failure)
    }

    @Test("F34: done ends the success part") func doneEndsTheSuccessPart() {
        let journal = Journal<Int>()
        let end: Promise<Void> = Promise.value(1, on: context).done { journal.add($0) }
        context.drain()
        #expect(end.value != nil)
        #expect(journal.entries == [1])
    }

    @Test("F37: thenResult continues after every outcome, but not after its own")
    func thenResultContinuesAfterEveryOutcome() {
        let context = context
        let journal = Journal<String>()
        func continued(_ promise: Promise<Int>) -> Promise<String> {
            promise.thenResult { result in
                journal.add("\(PromiseState(result))")
                return try .value("\(result.get())", on: context)
            }
        }
        let good = continued(.value(1, on: context))
        let bad = continued(failed())
        let cancelled = continued(.error(Cancelled(), on: context))
        let later = Promise.value(1, on: context).thenResult { _ in
            journal.add("once")
            return Promise<Int>.error(Failure("later"), on: context)
        }
        context.drain()
        #expect(good.value == "1")
        #expect(bad.error as? Failure == Failure("x"))
        #expect(cancelled.error is Cancelled)
        #expect(later.error as? Failure == Failure("later"))
        #expect(journal.entries.count == 4 && journal.entries.last == "once")
    }

    @Test("F37: a cancelled thenResult withdraws before its handler, and from what that returns")
    func cancelledThenResultWithdraws() {
        let context = context
        let (first, second) = (
            Resolver<Int>(on: context).shared(), Resolver<Int>(on: context).shared()
        )
        let journal = Journal<String>()
        let before = first.promise.thenResult { _ in
            journal.add("handler")
            return Promise.value(1, on: context)
        }
        before.cancel()
        let inner = second.promise
        let after = Promise.value(1, on: context).thenResult { _ in inner.map { $0 } }
        context.drain()
        #expect(!second.isCancelled)
        after.cancel()
        context.drain()
        #expect(first.isCancelled && journal.entries == [])
        #expect(after.error is Cancelled)
    }

    @Test("F39: earlier results are kept in a tuple") func earlierResultsAreKeptInATuple() {
        let context = context
        let both = Promise.value(1, on: context)
            .then { first in Promise.value("two", on: context).map { (first, $0) } }
        context.drain()
        #expect(both.value?.0 == 1 && both.value?.1 == "two")
    }

    @Test("F42: sequences are mapped by Swift's own functions, and by all")
    func sequencesAreMapped() {
        let context = context
        let list = Promise.value([3, 1, 2], on: context)
        let sorted = list.map { $0.sorted() }
        let doubled = list.then { all($0, concurrently: 2) { .value($0 * 2, on: context) } }
        let first = Promise.value([Int](), on: context).compactMap { $0.first }
        for _ in 0..<200 where doubled.isPending { context.drain() }
        #expect(sorted.value == [1, 2, 3])
        #expect(doubled.value == [6, 2, 4])
        #expect(first.error as? PromiseError == .noValue)
    }

    @Test("F43a: observers make no promise, run in order, and do not keep work going")
    func observersDoNotKeepWorkGoing() {
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        promise.whenSettled { _ in journal.add(1) }
        promise.map { $0 }.cancel()
        promise.whenSettled { _ in journal.add(2) }
        context.drain()
        #expect(journal.entries == [1, 2])
        #expect(promise.error is Cancelled)
        _ = resolver.isCancelled
    }

    @Test("F44: inline handlers have run when fulfill returns")
    func inlineHandlersRunBeforeFulfillReturns() {
        let journal = Journal<String>()
        let resolver = Resolver<Int>(on: context)
        let end = resolver.promise.map(on: .inline) { value in
            journal.add("handler")
            return value + 1
        }
        resolver.fulfill(1)
        journal.add("settled")
        #expect(journal.entries == ["handler", "settled"])
        #expect(end.value == 2)
        #expect(Promise.value(1, on: context).map(on: .inline) { $0 }.value == 1)
    }

    @Test("F44: inline handlers do not nest, so a long chain needs no stack")
    func inlineHandlersNeedNoStack() {
        let links = ThreadSanitizer.shortened(1_000_000)
        onAnotherThread(stackBytes: 512 * 1024) {
            let resolver = Resolver<Int>(on: InlineContext.shared)
            var last = resolver.promise
            for _ in 0..<links { last = last.map { $0 &+ 1 } }
            resolver.fulfill(0)
            #expect(last.value == links)
        }
    }

    @Test("F44: jobs that an inline handler makes ready run after it")
    func inlineHandlersDoNotNest() {
        let journal = Journal<String>()
        let first = Resolver<Int>(on: InlineContext.shared)
        let second = Resolver<Int>(on: InlineContext.shared).shared()
        second.promise.whenSettled { _ in journal.add("inner") }
        first.promise.whenSettled { _ in
            second.fulfill(2)
            journal.add("outer ends")
        }
        first.fulfill(1)
        #expect(journal.entries == ["outer ends", "inner"])
    }

    @Test("F45: a throw in onFailure replaces the error") func aThrowInOnFailureReplacesTheError() {
        let end = failed().onFailure { _ in throw Failure("mine") }
        context.drain()
        #expect(end.error as? Failure == Failure("mine"))
    }

    @Test("F46: several catches of one promise all run") func severalCatchesRun() {
        let journal = Journal<Int>()
        let source = failed()
        for number in 1...3 { source.catch { _ in journal.add(number) } }
        context.drain()
        #expect(journal.entries == [1, 2, 3])
    }

    @Test("F48: recover with a value") func recoverReplacesAnErrorByAValue() {
        let context = context
        let end = failed().recover { _ in .value(9, on: context) }
        let same = failed().replaceError(with: 9)
        context.drain()
        #expect(end.value == 9 && same.value == 9)
    }

    @Test("F54: catch may test the type of the error") func catchMayTestTheErrorsType() {
        let journal = Journal<String>()
        failed().catch { error in
            if let failure = error as? Failure { journal.add(failure.name) }
        }
        context.drain()
        #expect(journal.entries == ["x"])
    }

    @Test("F55: recover into a guarantee also receives cancellation", arguments: [true, false])
    func recoverIntoAGuaranteeReceivesCancellation(isCancelled: Bool) {
        let journal = Journal<Int>()
        let source: Promise<Int> = isCancelled ? .cancelled(on: context) : failed()
        source.recover(guaranteed: { [context] _ in .value(5, on: context) })
            .done { journal.add($0) }
        context.drain()
        #expect(journal.entries == [5])
    }

    @Test("F56: an error is mapped") func mapErrorReplacesTheError() {
        let end = failed("a").mapError { Failure((($0 as? Failure)?.name ?? "") + "b") }
        context.drain()
        #expect(end.error as? Failure == Failure("ab"))
    }

    @Test("F58: unused results of promises are warned about, those of guarantees are not")
    func unusedPromisesAreWarnedAbout() {
        // The compiler checks it: with warnings as errors, `_ =` or a final handler is needed here
        // ...
        let end = failed().map { $0 }
        // ... and not here.
        end.catch { _ in }
        context.drain()
        #expect(!end.isPending)
    }

    @Test("F59: ensure runs in every case and does not receive the outcome")
    func ensureRunsInEveryCase() {
        let journal = Journal<Int>()
        let good = Promise.value(1, on: context).ensure { journal.add(1) }
        let bad = failed().ensure { journal.add(2) }
        let gone = Promise<Int>.cancelled(on: context).ensure { journal.add(3) }
        context.drain()
        #expect(journal.entries == [1, 2, 3])
        #expect(good.value == 1 && bad.error is Failure && gone.error is Cancelled)
    }

    @Test("F60 F62: ensure waits for its guarantee, and passes the outcome on")
    func ensureWaitsAndPassesTheOutcomeOn() {
        let cleanup = Journal<String>()
        let context = context
        let end = failed().ensure(waiting: {
            after(.seconds(1), on: context).map { cleanup.add("clean") }
        })
        context.drain()
        #expect(end.isPending)
        context.advance(by: .seconds(1))
        #expect(cleanup.entries == ["clean"])
        #expect(end.error is Failure)
    }

    @Test("F62: work starts after every outcome") func settledStartsWorkForEveryOutcome() {
        let context = context
        let work = Doubling()
        let next = failed().settled.promise.then { _ in work.start(with: 4, on: context) }
        context.drain()
        #expect(next.value == 8)
    }

    @Test("F63: done after catch runs in every case", arguments: [true, false])
    func doneAfterCatchRunsInEveryCase(isGood: Bool) {
        let journal = Journal<String>()
        let source: Promise<Int> = isGood ? .value(1, on: context) : failed()
        source.done { _ in journal.add("done") }.catch { _ in journal.add("catch") }
            .done { journal.add("end") }
        context.drain()
        #expect(journal.entries == [isGood ? "done" : "catch", "end"])
    }
}
