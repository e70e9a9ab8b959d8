import PromiseOperators
import Promises
import Testing

/// Combinators that one input decides while the others are still being attached: on `.inline`, or
/// because the inputs' context runs on another thread. Every input is counted first, so exactly the
/// inputs without another consumer are cancelled.
@Suite(.timeLimit(.minutes(5))) struct EarlyDecisionTests {
    /// The combinators that withdraw from their inputs when one of them has decided.
    enum Combinator: CaseIterable {
        case race, firstSettled, all, allByKey, allOfPairs, allOfMany, either, both

        /// The outcome by which the first input decides.
        func decisive(on context: any ExecutionContext) -> Promise<Int> {
            switch self {
            case .race, .firstSettled, .either: .value(1, on: context)
            default: .error(Failure("first"), on: context)
            }
        }

        func combine(_ first: Promise<Int>, _ others: [Promise<Int>]) -> Promise<Void> {
            let inputs = [first] + others
            let numbered = inputs.enumerated().map { (key: $0, promise: $1) }
            return switch self {
            case .race: Promises.race(inputs).asVoid()
            case .firstSettled: Promises.firstSettled(inputs).asVoid()
            case .all: Promises.all(inputs).asVoid()
            case .allByKey:
                Promises.all(Dictionary(uniqueKeysWithValues: numbered.map { ($0, $1) })).asVoid()
            case .allOfPairs: Promises.all(numbered).asVoid()
            case .allOfMany: Promises.all(first, others[0], others[0].map { $0 }).asVoid()
            case .either: (first ||| others[0]).asVoid()
            case .both: (first &&& others[0]).asVoid()
            }
        }
    }

    @Test(
        "on .inline, an input with another consumer goes on",
        arguments: Combinator.allCases)
    func inputsWithOtherConsumersGoOn(_ combinator: Combinator) {
        let resolver = Resolver<Int>(on: .inline).shared()
        let other = resolver.promise.map { $0 + 1 }
        combinator.combine(combinator.decisive(on: .inline), [resolver.promise]).cauterize()
        #expect(!resolver.isCancelled)
        resolver.fulfill(5)
        #expect(other.value == 6)
    }

    @Test(
        "on .inline, an input without another consumer is cancelled",
        arguments: Combinator.allCases)
    func inputsWithoutOtherConsumersAreCancelled(_ combinator: Combinator) {
        let resolver = Resolver<Int>(on: .inline).shared()
        combinator.combine(combinator.decisive(on: .inline), [resolver.promise]).cauterize()
        #expect(resolver.isCancelled)
    }

    @Test(
        "on the pool, which decides while inputs are being attached",
        arguments: Combinator.allCases)
    func decidingWhileAttachingOnThePool(_ combinator: Combinator) async {
        for _ in 0..<20 {
            let shared = (0..<100).map { _ in Resolver<Int>().shared() }
            let unshared = (0..<100).map { _ in Resolver<Int>().shared() }
            let others = shared.map { $0.promise.map { $0 + 1 } }
            let resolvers = combinator.takesMany ? shared + unshared : [shared[0]]
            let result = combinator.combine(
                combinator.decisive(on: SharedPool.shared), resolvers.map(\.promise))
            _ = await result.settled.get()
            // The result is settled before it withdraws, in one job of the pool.
            _ = await Promise.value(0).map { $0 }.settled.get()
            #expect(shared.count { $0.isCancelled } == 0)
            if combinator.takesMany { #expect(unshared.allSatisfy { $0.isCancelled }) }
            for resolver in shared { resolver.fulfill(1) }
            for other in others { #expect(await other.settled.get().success == 2) }
        }
    }

    @Test("any and allSettled wait for all inputs, also if the first is settled at once")
    func anyAndAllSettledWaitForAllInputs() {
        let resolver = Resolver<Int>(on: .inline).shared()
        let inputs = [Promise.value(1, on: .inline), resolver.promise]
        let some = any(inputs.enumerated().map { (key: $0, promise: $1) })
        let outcomes = allSettled(inputs)
        #expect(!resolver.isCancelled && some.isPending)
        resolver.fulfill(2)
        #expect(some.value?.values == [0: 1, 1: 2])
        #expect(outcomes.promise.value?.map(\.success) == [1, 2])
    }

    @Test("cancelling a pending any cancels the inputs without another consumer")
    func cancellingAnyStopsInputsWithoutOtherConsumers() {
        let shared = Resolver<Int>(on: .inline).shared()
        let unshared = Resolver<Int>(on: .inline).shared()
        let other = shared.promise.map { $0 }
        let inputs = [Promise.value(1, on: .inline), shared.promise, unshared.promise]
        any(inputs.enumerated().map { (key: $0, promise: $1) }).cancel()
        #expect(!shared.isCancelled && unshared.isCancelled)
        shared.fulfill(2)
        #expect(other.value == 2)
    }

    @Test("an input that is listed twice is counted twice") func aRepeatedInputIsCountedTwice() {
        let resolver = Resolver<Int>(on: .inline).shared()
        let other = resolver.promise.map { $0 }
        race([Promise.value(1, on: .inline), resolver.promise, resolver.promise]).cauterize()
        #expect(!resolver.isCancelled)
        other.cancel()
        #expect(resolver.isCancelled)
    }

    @Test("on a local context: settled inputs decide, and the result withdraws from the rest")
    func onALocalContext() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let shared = LocalResolverBox(local)
            let unshared = LocalResolverBox(local)
            let other = shared.promise.map { $0 + 1 }
            let first = local.race([local.value(1), shared.promise, unshared.promise])
            let settled = local.firstSettled([local.value(2), shared.promise])
            let failed = local.all([local.error(Failure("x")), shared.promise])
            context.drain()
            #expect(first.value == 1 && settled.value == 2 && failed.error is Failure)
            #expect(!shared.isCancelled && unshared.isCancelled)
            shared.fulfill(5)
            context.drain()
            #expect(other.value == 6)
        }
    }

    @Test("a cancelled result of bounded work starts nothing more")
    func cancelledBoundedWorkStartsNothing() {
        let context = ManualContext()
        let started = Journal<Int>()
        let result = all([1, 2, 3], concurrently: 2, on: context) { number in
            started.add(number)
            return Promise<Int>.never(on: context)
        }
        result.cancel()
        context.drain()
        #expect(started.entries == [])
        let other = all([1, 2, 3], concurrently: 2, on: context) { number in
            started.add(number)
            return Promise<Int>.never(on: context)
        }
        context.drain()
        #expect(started.entries == [1, 2])
        other.cancel()
        context.drain()
    }
}

extension EarlyDecisionTests.Combinator {
    /// Whether it takes any number of inputs.
    var takesMany: Bool {
        switch self {
        case .allOfMany, .either, .both: false
        default: true
        }
    }
}
