import PromiseOperators
import Promises
import Testing

/// Combinators that one member decides while the others are still being attached: on `.inline`, or
/// because the members' context is another thread's. Every member is counted first, so exactly those
/// are stopped that nobody else waits for.
@Suite(.timeLimit(.minutes(5))) struct EarlyDecisionTests {
    /// The combinators that withdraw from their members when one of them has decided.
    enum Combinator: CaseIterable {
        case race, firstSettled, all, allByKey, allOfPairs, allOfMany, either, both

        /// The outcome by which the first member decides.
        func decisive(on context: any ExecutionContext) -> Promise<Int> {
            switch self {
            case .race, .firstSettled, .either: .value(1, on: context)
            default: .error(Failure("first"), on: context)
            }
        }

        func combine(_ first: Promise<Int>, _ others: [Promise<Int>]) -> Promise<Void> {
            let members = [first] + others
            let numbered = members.enumerated().map { (key: $0, promise: $1) }
            return switch self {
            case .race: Promises.race(members).asVoid()
            case .firstSettled: Promises.firstSettled(members).asVoid()
            case .all: Promises.all(members).asVoid()
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
        "on .inline, a member that somebody else waits for goes on",
        arguments: Combinator.allCases)
    func othersGoOn(_ combinator: Combinator) {
        let resolver = Resolver<Int>(on: .inline).shared()
        let other = resolver.promise.map { $0 + 1 }
        combinator.combine(combinator.decisive(on: .inline), [resolver.promise]).cauterize()
        #expect(!resolver.isCancelled)
        resolver.fulfill(5)
        #expect(other.value == 6)
    }

    @Test(
        "on .inline, a member that nobody else waits for is stopped",
        arguments: Combinator.allCases)
    func losersStop(_ combinator: Combinator) {
        let resolver = Resolver<Int>(on: .inline).shared()
        combinator.combine(combinator.decisive(on: .inline), [resolver.promise]).cauterize()
        #expect(resolver.isCancelled)
    }

    @Test(
        "on the pool, which decides while members are being attached",
        arguments: Combinator.allCases)
    func onThePool(_ combinator: Combinator) async {
        for _ in 0..<20 {
            let wanted = (0..<100).map { _ in Resolver<Int>().shared() }
            let unwanted = (0..<100).map { _ in Resolver<Int>().shared() }
            let others = wanted.map { $0.promise.map { $0 + 1 } }
            let resolvers = combinator.takesMany ? wanted + unwanted : [wanted[0]]
            let result = combinator.combine(
                combinator.decisive(on: SharedPool.shared), resolvers.map(\.promise))
            _ = await result.settled.get()
            // The result is settled before it withdraws, in one job of the pool.
            _ = await Promise.value(0).map { $0 }.settled.get()
            #expect(wanted.count { $0.isCancelled } == 0)
            if combinator.takesMany { #expect(unwanted.allSatisfy { $0.isCancelled }) }
            for resolver in wanted { resolver.fulfill(1) }
            for other in others { #expect(await other.settled.get().success == 2) }
        }
    }

    @Test("any and allSettled wait for all, also when the first has arrived at once")
    func thoseThatWaitForAll() {
        let resolver = Resolver<Int>(on: .inline).shared()
        let members = [Promise.value(1, on: .inline), resolver.promise]
        let some = any(members.enumerated().map { (key: $0, promise: $1) })
        let outcomes = allSettled(members)
        #expect(!resolver.isCancelled && some.isPending)
        resolver.fulfill(2)
        #expect(some.value?.values == [0: 1, 1: 2])
        #expect(outcomes.promise.value?.map(\.success) == [1, 2])
    }

    @Test("cancelling any while it is pending stops what nobody else waits for")
    func anyCancelled() {
        let wanted = Resolver<Int>(on: .inline).shared()
        let unwanted = Resolver<Int>(on: .inline).shared()
        let other = wanted.promise.map { $0 }
        let members = [Promise.value(1, on: .inline), wanted.promise, unwanted.promise]
        any(members.enumerated().map { (key: $0, promise: $1) }).cancel()
        #expect(!wanted.isCancelled && unwanted.isCancelled)
        wanted.fulfill(2)
        #expect(other.value == 2)
    }

    @Test("a member that is there twice is counted twice") func theSameMemberTwice() {
        let resolver = Resolver<Int>(on: .inline).shared()
        let other = resolver.promise.map { $0 }
        race([Promise.value(1, on: .inline), resolver.promise, resolver.promise]).cauterize()
        #expect(!resolver.isCancelled)
        other.cancel()
        #expect(resolver.isCancelled)
    }

    @Test("on a core: settled members decide, and the rest is withdrawn from")
    func onACore() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let wanted = LocalBox(local)
            let unwanted = LocalBox(local)
            let other = wanted.promise.map { $0 + 1 }
            let first = local.race([local.value(1), wanted.promise, unwanted.promise])
            let settled = local.firstSettled([local.value(2), wanted.promise])
            let failed = local.all([local.error(Failure("x")), wanted.promise])
            context.drain()
            #expect(first.value == 1 && settled.value == 2 && failed.error is Failure)
            #expect(!wanted.isCancelled && unwanted.isCancelled)
            wanted.fulfill(5)
            context.drain()
            #expect(other.value == 6)
        }
    }

    @Test("work that is begun one after the other: a cancelled result begins nothing")
    func concurrentlyCancelled() {
        let context = ManualContext()
        let begun = Journal<Int>()
        let result = all([1, 2, 3], concurrently: 2, on: context) { number in
            begun.add(number)
            return Promise<Int>.never(on: context)
        }
        result.cancel()
        context.drain()
        #expect(begun.entries == [])
        let other = all([1, 2, 3], concurrently: 2, on: context) { number in
            begun.add(number)
            return Promise<Int>.never(on: context)
        }
        context.drain()
        #expect(begun.entries == [1, 2])
        other.cancel()
        context.drain()
    }
}

extension EarlyDecisionTests.Combinator {
    /// Whether it takes any number of members.
    var takesMany: Bool {
        switch self {
        case .allOfMany, .either, .both: false
        default: true
        }
    }
}
