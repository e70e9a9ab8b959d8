import Promises
import Testing

/// Behaviours 1 to 24, on the face of a core.
@Suite struct CoreBehaviourTests {
    let context = ManualContext()

    @Test("F43b (B1): settled before attaching") func settledBeforeAttaching() {
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

    @Test("F40 (B4): one handler throws the others run") func oneHandlerThrowsTheOthersRun() {
        LocalContext.run(on: context) { local in
            let source = local.value(1)
            let children = (0..<3).map { place in
                source.map { value in
                    if place == 1 { throw Failure("mine") }
                    return value + place
                }
            }
            context.drain()
            #expect(children.map(\.value) == [1, nil, 3])
            #expect(children[1].error as? Failure == Failure("mine"))
        }
    }

    @Test("F16 (B5): void and nil are values") func voidAndNilAreValues() {
        LocalContext.run(on: context) { local in
            #expect(local.value(()).value != nil)
            let nothing = local.value(Int?.none).map { $0 }
            context.drain()
            #expect(!nothing.isPending)
            #expect(nothing.error == nil)
        }
    }

    @Test("F24 (B7): firstly turns athrow into arejection") func firstlyTurnsAThrowIntoARejection()
    {
        LocalContext.run(on: context) { local in
            let chain: LocalPromise<Int> = local.firstly { throw Failure("first") }
            #expect(chain.error as? Failure == Failure("first"))
            let good = local.firstly { local.value(2) }
            context.drain()
            #expect(good.value == 2)
        }
    }

    @Test("F49 (B10): error skips to recover") func errorSkipsToRecover() {
        LocalContext.run(on: context) { local in
            let notes = Notes<Int>()
            func step(_ place: Int) -> (Int) -> Int {
                {
                    notes.add(place)
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

    @Test("B12: recover lets avalue pass") func recoverLetsAValuePass() {
        LocalContext.run(on: context) { local in
            let notes = Notes<Int>()
            let end = local.value(1).recover { _ in
                notes.add(1)
                return local.value(2)
            }
            context.drain()
            #expect(end.value == 1)
            #expect(notes.entries == [])
        }
    }

    @Test("F53 (B13): recover only one type") func recoverOnlyOneType() {
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

    @Test("F52 (B14): replace error on failure only") func replaceErrorOnFailureOnly() {
        LocalContext.run(on: context) { local in
            let notes = Notes<Int>()
            func spare() -> Int {
                notes.add(1)
                return 9
            }
            let good = local.value(1).replaceError(with: spare())
            let bad = local.error(Failure("x")).replaceError(with: spare())
            context.drain()
            #expect(good.value == 1)
            #expect(bad.value == 9)
            #expect(notes.entries.count == 1)
        }
    }

    @Test("F45 (B15): on failure looks and passes on") func onFailureLooksAndPassesOn() {
        LocalContext.run(on: context) { local in
            let notes = Notes<Bool>()
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
            let notes = Notes<String>()
            let good = local.value(1).ensure { notes.add("good") }
            let bad = local.error(Failure("x"), as: Int.self).ensure { notes.add("bad") }
            let gone = local.cancelled(as: Int.self).ensure { notes.add("gone") }
            context.drain()
            #expect(notes.entries == ["good", "bad", "gone"])
            #expect(good.value == 1)
            #expect(bad.error is Failure)
            #expect(gone.error is Cancelled)
        }
    }

    @Test("F60 (B17): ensure waits") func ensureWaits() {
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
            let notes = Notes<String>()
            (isGood ? local.value(1) : local.error(Failure("x")))
                .done { _ in notes.add("done") }
                .catch { _ in notes.add("catch") }
                .done { notes.add("end") }
            context.drain()
            #expect(notes.entries == [isGood ? "done" : "catch", "end"])
        }
    }

    @Test(
        "F47 (B19): catch skips cancellation by default",
        arguments: [CatchPolicy.allErrors, .allErrorsExceptCancellation])
    func catchSkipsCancellationByDefault(policy: CatchPolicy) {
        LocalContext.run(on: context) { local in
            let notes = Notes<String>()
            local.cancelled(as: Int.self)
                .catch(policy: policy) { _ in notes.add("catch") }.done { notes.add("end") }
            context.drain()
            #expect(notes.entries == (policy == .allErrors ? ["catch", "end"] : ["end"]))
        }
    }

    @Test("F104 (B20): cancellable errors decide themselves", arguments: [true, false])
    func cancellableErrorsDecideThemselves(flag: Bool) {
        struct Odd: CancellableError { let isCancelled: Bool }
        LocalContext.run(on: context) { local in
            let end = local.error(Odd(isCancelled: flag)).recover { _ in local.value(1) }
            context.drain()
            #expect((end.value == 1) == !flag)
        }
    }

    @Test("F35 (B21): compact map") func compactMap() {
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

    @Test("F38 (B22): adding keeps both") func addingKeepsBoth() {
        LocalContext.run(on: context) { local in
            let notes = Notes<Int>()
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

    @Test("F31 (B23): returning the child itself") func returningTheChildItself() {
        LocalContext.run(on: context) { local in
            let box = Notes<LocalPromise<Int>>()
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
        for place in 0..<1_000 {
            promise = promise.hop(to: place.isMultiple(of: 2) ? other : context).map {
                $0 + [place]
            }
        }
        while promise.isPending {
            other.drain()
            context.drain()
        }
        #expect(promise.value == Array(0..<1_000))
    }

    @Test("F33, F43: validate and on result") func validateAndOnResult() {
        LocalContext.run(on: context) { local in
            let notes = Notes<String>()
            let end = local.value(1).onResult { notes.add("\($0)") }.validate { $0 > 1 }
            context.drain()
            #expect(notes.entries == ["success(1)"])
            #expect(end.error as? PromiseError == .validationFailed)
        }
    }

    @Test("F32, F36, F50: both handlers") func bothHandlers() {
        LocalContext.run(on: context) { local in
            let thrown = local.value(1).then(
                fulfilled: { _ -> LocalStep<Int> in throw Failure("mine") },
                rejected: { _ in .value(0) })
            let repaired = local.error(Failure("x"), as: Int.self).then(
                fulfilled: { .value($0) }, rejected: { _ in .promise(local.value(8)) })
            context.drain()
            #expect(thrown.error as? Failure == Failure("mine"))
            #expect(repaired.value == 8)
        }
    }

    @Test("F37, F61: settled is avalue") func settledIsAValue() {
        LocalContext.run(on: context) { local in
            let notes = Notes<String>()
            local.error(Failure("x"), as: Int.self).settled
                .map { result in (try? result.get()) == nil ? "failed" : "fine" }
                .done { notes.add($0) }
            context.drain()
            #expect(notes.entries == ["failed"])
        }
    }

    @Test("F21: callback pairs", arguments: [0, 1, 2, 3]) func callbackPairs(kind: Int) {
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
