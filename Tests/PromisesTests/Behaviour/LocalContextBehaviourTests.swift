import Promises
import Testing

/// Behaviours 1 to 24, with local promises.
@Suite struct LocalContextBehaviourTests {
    let context = ManualContext()

    @Test("F43b (B1): handlers attached after settling run") func handlersAttachedAfterSettlingRun()
    {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let promise = resolver.promise
            resolver.fulfill(1)
            context.drain()
            let late = promise.map { $0 + 1 }
            context.drain()
            #expect(late.value == 2)
        }
    }

    @Test("F40 (B4): a throwing handler does not affect the others")
    func aThrowingHandlerDoesNotAffectTheOthers() {
        LocalContext.run(on: context) { local in
            let source = local.value(1)
            let children = (0..<3).map { index in
                source.map { value in
                    if index == 1 { throw Failure("mine") }
                    return value + index
                }
            }
            context.drain()
            #expect(children.map(\.value) == [1, nil, 3])
            #expect(children[1].error as? Failure == Failure("mine"))
        }
    }

    @Test("F16 (B5): Void and nil are values") func voidAndNilAreValues() {
        LocalContext.run(on: context) { local in
            #expect(local.value(()).value != nil)
            let nothing = local.value(Int?.none).map { $0 }
            context.drain()
            #expect(!nothing.isPending)
            #expect(nothing.error == nil)
        }
    }

    @Test("F24 (B7): firstly turns a throw into a rejection")
    func firstlyTurnsAThrowIntoARejection() {
        LocalContext.run(on: context) { local in
            let chain: LocalPromise<Int> = local.firstly { throw Failure("first") }
            #expect(chain.error as? Failure == Failure("first"))
            let good = local.firstly { local.value(2) }
            context.drain()
            #expect(good.value == 2)
        }
    }

    @Test("F49 (B10): an error skips handlers up to recover") func anErrorSkipsHandlersUpToRecover()
    {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            func step(_ index: Int) -> (Int) -> Int {
                {
                    notes.add(index)
                    return $0
                }
            }
            let end = local.value(0).map { _ -> Int in throw Failure("one") }
                .map(step(2)).map(step(3)).map(step(4)).map(step(5))
                .recover { _ in local.value(60) }
                .map(step(7))
            context.drain()
            #expect(notes.entries == [7])
            #expect(end.value == 60)
        }
    }

    @Test("F51 (B11): recover rethrows or replaces") func recoverRethrowsOrReplaces() {
        LocalContext.run(on: context) { local in
            let reason = Reason()
            let same = local.error(reason, as: Int.self).recover { throw $0 }
            let other = local.error(reason, as: Int.self).recover { _ in throw Failure("new") }
            context.drain()
            #expect(same.error as? Reason === reason)
            #expect(other.error as? Failure == Failure("new"))
        }
    }

    @Test("B12: recover passes a value on") func recoverPassesAValueOn() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            let end = local.value(1).recover { _ in
                notes.add(1)
                return local.value(2)
            }
            context.drain()
            #expect(end.value == 1)
            #expect(notes.entries == [])
        }
    }

    @Test("F53 (B13): recover(only:) handles one type") func recoverOnlyHandlesOneType() {
        LocalContext.run(on: context) { local in
            let passes = local.error(Reason(), as: Int.self)
                .recover(only: Failure.self) { _ in local.value(1) }
            let repaired = local.error(Failure("x"), as: Int.self)
                .recover(only: Failure.self) { local.value($0.name.count) }
            context.drain()
            #expect(passes.error is Reason)
            #expect(repaired.value == 1)
        }
    }

    @Test("F52 (B14): replaceError evaluates its value on failure only")
    func replaceErrorEvaluatesItsValueOnFailureOnly() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            func replacement() -> Int {
                notes.add(1)
                return 9
            }
            let good = local.value(1).replaceError(with: replacement())
            let bad = local.error(Failure("x")).replaceError(with: replacement())
            context.drain()
            #expect(good.value == 1)
            #expect(bad.value == 9)
            #expect(notes.entries.count == 1)
        }
    }

    @Test("F45 (B15): onFailure observes and passes on") func onFailureObservesAndPassesOn() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Bool>()
            let reason = Reason()
            let bad = local.error(reason, as: Int.self).onFailure {
                notes.add($0 as? Reason === reason)
            }
            let good = local.value(1).onFailure { _ in notes.add(false) }
            context.drain()
            #expect(notes.entries == [true])
            #expect(bad.error as? Reason === reason)
            #expect(good.value == 1)
        }
    }

    @Test("F59 (B16): ensure runs once in every case") func ensureRunsOnceInEveryCase() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let good = local.value(1).ensure { notes.add("good") }
            let bad = local.error(Failure("x"), as: Int.self).ensure { notes.add("bad") }
            let gone = local.cancelled(as: Int.self).ensure { notes.add("cancelled") }
            context.drain()
            #expect(notes.entries == ["good", "bad", "cancelled"])
            #expect(good.value == 1)
            #expect(bad.error is Failure)
            #expect(gone.error is Cancelled)
        }
    }

    @Test("F60 (B17): ensure waits for its guarantee") func ensureWaitsForItsGuarantee() {
        LocalContext.run(on: context) { local in
            let end = local.value(1).ensure(waiting: { local.after(.seconds(1)) })
            context.drain()
            #expect(end.isPending)
            context.advance(by: .seconds(1))
            #expect(end.value == 1)
        }
    }

    @Test("F46 (B18): catch always completes", arguments: [true, false]) func catchAlwaysCompletes(
        isGood: Bool
    ) {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            (isGood ? local.value(1) : local.error(Failure("x")))
                .done { _ in notes.add("done") }
                .catch { _ in notes.add("catch") }
                .done { notes.add("end") }.cauterize()
            context.drain()
            #expect(notes.entries == [isGood ? "done" : "catch", "end"])
        }
    }

    @Test(
        "F47 (B19): catch skips cancellation by default",
        arguments: [CatchPolicy.allErrors, .allErrorsExceptCancellation])
    func catchSkipsCancellationByDefault(policy: CatchPolicy) {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            local.cancelled(as: Int.self)
                .catch(policy: policy) { _ in notes.add("catch") }.done { notes.add("end") }
                .cauterize()
            context.drain()
            #expect(notes.entries == (policy == .allErrors ? ["catch", "end"] : ["end"]))
        }
    }

    @Test(
        "F104 (B20): cancellable errors decide whether they are cancellations",
        arguments: [true, false])
    func cancellableErrorsDecideWhetherTheyAreCancellations(flag: Bool) {
        struct Odd: CancellableError { let isCancelled: Bool }
        LocalContext.run(on: context) { local in
            let end = local.error(Odd(isCancelled: flag)).recover { _ in local.value(1) }
            context.drain()
            #expect((end.value == 1) == !flag)
        }
    }

    @Test("F35 (B21): compactMap rejects nil") func compactMapRejectsNil() {
        LocalContext.run(on: context) { local in
            let none = local.value(1).compactMap { _ in Int?.none }
            let thrown = local.value(1).compactMap { _ -> Int? in throw Failure("x") }
            let some = local.value("7").compactMap { Int($0) }
            context.drain()
            #expect(none.error as? PromiseError == .noValue)
            #expect(thrown.error is Failure)
            #expect(some.value == 7)
        }
    }

    @Test("F38 (B22): adding keeps both values") func addingKeepsBothValues() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            let first = local.value(1).onValue { notes.add($0) }
            let both = first.adding { local.value("\($0)") }
            let failed = first.adding { _ in local.error(Failure("x"), as: Int.self) }
            context.drain()
            #expect(both.value?.0 == 1)
            #expect(both.value?.1 == "1")
            #expect(failed.error is Failure)
            #expect(notes.entries == [1])
        }
    }

    @Test("F31 (B23): returning the child from its handler rejects")
    func returningTheChildFromItsHandlerRejects() {
        LocalContext.run(on: context) { local in
            let box = LocalJournal<LocalPromise<Int>>()
            let child = local.value(1).then { _ in box.entries[0] }
            box.add(child)
            context.drain()
            #expect(child.error as? PromiseError == .resolvedWithItself)
            box.entries = []
        }
    }

    @Test("F94 (B24): a thousand hops keep order") func aThousandHopsKeepOrder() {
        let other = ManualContext()
        var promise = Promise.value([Int](), on: context)
        for index in 0..<1_000 {
            promise = promise.hop(to: index.isMultiple(of: 2) ? other : context).map {
                $0 + [index]
            }
        }
        while promise.isPending {
            other.drain()
            context.drain()
        }
        #expect(promise.value == Array(0..<1_000))
    }

    @Test("F33, F43: validate rejects and onResult observes")
    func validateRejectsAndOnResultObserves() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let end = local.value(1).onResult { notes.add("\($0)") }.validate { $0 > 1 }
            context.drain()
            #expect(notes.entries == ["success(1)"])
            #expect(end.error as? PromiseError == .validationFailed)
        }
    }

    @Test("F32, F36, F50: then runs one of two handlers") func thenRunsOneOfTwoHandlers() {
        LocalContext.run(on: context) { local in
            let thrown = local.value(1).then(
                fulfilled: { _ -> LocalPromise<Int> in throw Failure("mine") },
                rejected: { _ in local.value(0) })
            let repaired = local.error(Failure("x"), as: Int.self).then(
                fulfilled: { local.value($0) }, rejected: { _ in local.value(8) })
            context.drain()
            #expect(thrown.error as? Failure == Failure("mine"))
            #expect(repaired.value == 8)
        }
    }

    @Test("F37, F61: settled turns an error into a value") func settledTurnsAnErrorIntoAValue() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            local.error(Failure("x"), as: Int.self).settled
                .map { result in (try? result.get()) == nil ? "failed" : "fine" }
                .done { notes.add($0) }.cauterize()
            context.drain()
            #expect(notes.entries == ["failed"])
        }
    }

    @Test("F37: thenResult continues after every outcome, but not after its own")
    func localThenResultContinuesAfterEveryOutcome() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            func continued(_ promise: LocalPromise<Int>) -> LocalPromise<Int> {
                promise.thenResult { result in
                    notes.add((try? result.get()).map { "\($0)" } ?? "failed")
                    return local.error(Failure("later"))
                }
            }
            let results = [local.value(1), local.error(Failure("x")), local.error(Cancelled())]
                .map(continued)
            context.drain()
            #expect(notes.entries == ["1", "failed", "failed"])
            #expect(results.allSatisfy { $0.error as? Failure == Failure("later") })
            let thrown = local.value(1).thenResult { _ -> LocalPromise<Int> in throw Failure("y") }
            let resolver = LocalResolver<Int>(on: local)
            let withdrawn = resolver.promise.thenResult { _ -> LocalPromise<Int> in
                notes.add("handler")
                return local.value(2)
            }
            withdrawn.cancel()
            context.drain()
            #expect(thrown.error as? Failure == Failure("y"))
            let isCancelled = resolver.isCancelled
            #expect(isCancelled && notes.entries.count == 3)
        }
    }

    @Test("F21: a resolver accepts callback pairs", arguments: [0, 1, 2, 3])
    func resolverAcceptsCallbackPairs(kind: Int) {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let promise = resolver.promise
            resolver.resolve(kind & 1 != 0 ? 1 : nil, kind & 2 != 0 ? Failure("x") : nil)
            switch kind {
            case 0: #expect(promise.error as? PromiseError == .invalidCallingConvention)
            case 1: #expect(promise.value == 1)
            default: #expect(promise.error is Failure)
            }
        }
    }
}
